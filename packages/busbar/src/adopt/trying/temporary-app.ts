import { symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { listFolder } from '../../config/file/file-lookup.ts'
import type { AppConfig } from '../../config/schema/app-schema.ts'
import type { ServiceConfig } from '../imported.ts'

/**
 * Makes `folder` an app of the repository without writing there: links lead to the repository's
 * files, for relative paths of the config.
 */
export async function linkRepository(root: string, folder: string): Promise<void> {
  const names = (await listFolder(root)).filter((name) => !/^(?:node_modules|\.git|busbar\.config\..*)$/.test(name))
  for (const name of names) await symlink(join(root, name), join(folder, name))
}

/** Services keep their real folders, which are their working directories. */
export async function writeTemporaryConfig(root: string, folder: string, config: AppConfig): Promise<void> {
  const services = Object.entries(config.services ?? {}).map(([name, service]) => [name, inPlace(root, service)])
  const text = JSON.stringify({ ...config, services: Object.fromEntries(services) as AppConfig['services'] })
  // Values of variables may be secret.
  await writeFile(join(folder, 'busbar.config.json'), text, { mode: 0o600 })
}

function inPlace(root: string, service: string | ServiceConfig): ServiceConfig {
  const config = typeof service === 'string' ? { path: service } : service
  return { ...config, path: resolve(root, config.path ?? '.') }
}
