/** What files for containers need to know of an app. */
import { dirname, join, relative } from 'node:path'
import type { App } from '../../config/app.ts'
import { pathKind } from '../../config/file/file-lookup.ts'
import { readPackageJson } from '../../config/file/package-json.ts'
import { toServiceName } from '../../config/services/service-name.ts'

export interface Deployment {
  /** A DNS label. */
  readonly name: string
  /** Of its `package.json`. */
  readonly version: string
  /** The folder of the lock file, absolute: what an image is built from. */
  readonly context: string
  /** The app's folder in there, with slashes. '' if it is the same. */
  readonly folder: string
  readonly manager: PackageManager
  /** The gateway's first. */
  readonly ports: readonly DeployedPort[]
  /** True if the gateway answers `/healthz` and `/readyz`. */
  readonly probes: boolean
  /** True if it serves HTTPS itself. */
  readonly tls: boolean
  /** True if a service has a build. */
  readonly builds: boolean
  /** Seconds until a stop is complete, with a margin. */
  readonly stopSeconds: number
  /** Of `environments` in the config. */
  readonly environment: string | undefined
}

export interface DeployedPort {
  /** A name for people and for Kubernetes. */
  readonly name: string
  readonly port: number
  /** False if only this machine may reach it. */
  readonly isPublic: boolean
}

/** `none`: there is no lock file. */
export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'none'

const lockFiles: readonly (readonly [file: string, PackageManager])[] = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
]

/** What the gateway listens on in a container if the config leaves it to chance. */
const usualPort = 3000

/** Seconds that the processes may take to end in addition; as in the unit for systemd. */
const extraStop = 7

export async function describeDeployment(app: App, environment: string | undefined): Promise<Deployment> {
  const { gateway, services, stopTimeout, root } = app
  const { context, manager } = await lockedFolder(root)
  return {
    name: toServiceName(app.name.replace(/^@[^/]*\//, '')),
    version: (await readPackageJson(root))?.version ?? 'latest',
    context,
    folder: relative(context, root).replaceAll('\\', '/'),
    manager,
    ports: portsOf(app),
    probes: gateway.probes === true,
    tls: gateway.tls !== undefined,
    builds: services.some(({ build }) => build !== undefined),
    stopSeconds: Math.ceil(((app.stopDelay ?? 0) + stopTimeout) / 1000) + extraStop,
    environment,
  }
}

function portsOf({ gateway, services }: App): DeployedPort[] {
  const own = { name: 'http', port: gateway.port === 0 ? usualPort : gateway.port, isPublic: isOpen(gateway.host) }
  const exposed = services.flatMap(({ name, expose }) =>
    // A name of Kubernetes has at most 15 characters.
    expose.map(({ host, port }, index) => ({
      name: `${name.slice(0, 12).replace(/-+$/, '')}${index === 0 ? '' : `-${index}`}`,
      port,
      isPublic: isOpen(host),
    })),
  )
  return [own, ...exposed.filter(({ port }) => port !== 0)]
}

/** True for an address that other machines reach. */
function isOpen(host: string): boolean {
  return !/^(?:127\.|localhost$|::1$)/.test(host)
}

async function lockedFolder(root: string): Promise<{ context: string; manager: PackageManager }> {
  for (let at = root; ; at = dirname(at)) {
    for (const [file, manager] of lockFiles)
      if ((await pathKind(join(at, file))) === 'file') return { context: at, manager }
    if (dirname(at) === at) return { context: root, manager: 'none' }
  }
}
