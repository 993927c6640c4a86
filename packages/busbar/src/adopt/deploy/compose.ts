import type { Deployment } from './deployment.ts'
import { yamlText } from '../yaml-file.ts'

/** One container with the whole app. */
export function compose({ name, version, folder, ports, stopSeconds }: Deployment): string {
  const context = folder === '' ? '.' : '../'.repeat(folder.split('/').length).slice(0, -1)
  const service = {
    image: `${name}:${version}`,
    build: { context, dockerfile: folder === '' ? 'Dockerfile' : `${folder}/Dockerfile` },
    ports: ports
      .filter(({ isPublic }, index) => index === 0 || isPublic)
      .map(({ port, isPublic }) => (isPublic ? `${port}:${port}` : `127.0.0.1:${port}:${port}`)),
    env_file: [{ path: '.env', required: false }],
    restart: 'unless-stopped',
    stop_grace_period: `${stopSeconds}s`,
    read_only: true,
    tmpfs: ['/tmp'],
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  }
  return yamlText({ name, services: { [name]: service } })
}
