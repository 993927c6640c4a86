import { basename, join } from 'node:path'
import { firstExistingFile } from '../../config/file/file-lookup.ts'
import { type PackageJson, readPackageJson } from '../../config/file/package-json.ts'
import { findContract, findConventional } from '../../config/services/entry.ts'
import { ImportDraft } from '../import-draft.ts'
import type { Imported, ServiceDraft } from '../imported.ts'
import { applyLaunch, pathText } from '../launch/apply-launch.ts'
import { type Launch, parseLaunch } from '../launch/launch.ts'
import { findServer } from '../launch/server-evidence.ts'
import { packageFolders, workspacePatterns } from '../workspace-packages.ts'

/** The packages of a monorepo that open a server. The others are libraries. */
export async function importWorkspaces(root: string): Promise<Imported> {
  const draft = new ImportDraft('workspaces', root, root)
  return await importPackages(await packageFolders(root, (await workspacePatterns(root)) ?? []), draft)
}

/** Programs in neighbouring folders, each with its own dependencies, that no other file names. */
const usualFolders = ['*', '{services,apps,packages,servers,microservices,backend,src}/*']

/** The same for packages that no file connects. */
export async function importFolders(root: string): Promise<Imported> {
  const draft = new ImportDraft('folders', root, root)
  return await importPackages(await packageFolders(root, usualFolders), draft)
}

export async function hasPackageFolders(root: string): Promise<boolean> {
  return (await packageFolders(root, usualFolders)).length > 0
}

async function importPackages(folders: readonly string[], draft: ImportDraft): Promise<Imported> {
  for (const folder of folders) {
    const found = await readPackageJson(folder)
    if (found !== undefined) await importPackage(folder, found, draft)
  }
  return draft.finish()
}

/** The one program of a folder. */
export async function importProgram(root: string): Promise<Imported> {
  const draft = new ImportDraft('program', root, root)
  const found = await readPackageJson(root)
  const service = draft.addService(nameOf(root, found))
  const launch = await launchOf(root, found)
  if (launch === undefined)
    draft.leaveOut(service, service.name, 'it has no start script, no main and no index.*, server.* or app.*')
  else if (await applyLaunch({ service, folder: root, launch }, draft)) leaveToBusbar(service, launch)
  return draft.finish()
}

async function importPackage(folder: string, found: PackageJson, draft: ImportDraft): Promise<void> {
  const name = nameOf(folder, found)
  if ((await findContract(folder)) !== undefined) {
    draft.addService(name).config.path = pathText(draft.root, folder)
    return
  }
  const launch = await launchOf(folder, found)
  if (launch === undefined || (await isLibrary(launch, found))) return
  const service = draft.addService(name)
  if (await applyLaunch({ service, folder, launch }, draft)) leaveToBusbar(service, launch)
}

/** Busbar reads start scripts and `main` itself, so the config stays short. */
function leaveToBusbar({ config }: ServiceDraft, launch: Launch): void {
  if (launch.kind === 'command') return
  for (const key of ['entry', 'args', 'nodeOptions', 'run', 'env'] as const) delete config[key]
}

/** Without a start script only a server is a service. Many libraries export functions. */
async function isLibrary(launch: Launch, { scripts }: PackageJson): Promise<boolean> {
  if (scripts['start'] !== undefined || launch.kind === 'command') return false
  if (launch.file === undefined) return true
  const { listens, exportsOnly } = await findServer(launch.file)
  return !listens || exportsOnly
}

async function launchOf(folder: string, found: PackageJson | undefined): Promise<Launch | undefined> {
  const start = found?.scripts['start']
  // An app of Busbar has its own config.
  if (start !== undefined && /\bbusbar\b/.test(start)) return undefined
  if (start !== undefined) return await parseLaunch(start, folder)
  const main = found?.main === undefined ? undefined : await firstExistingFile([join(folder, found.main)])
  const file = main ?? (await findConventional(folder))
  return file === undefined
    ? undefined
    : await parseLaunch(`node ${basename(file) === file ? file : `./${file.slice(folder.length + 1)}`}`, folder)
}

function nameOf(folder: string, found: PackageJson | undefined): string {
  return found?.name?.replace(/^@[^/]*\//, '') ?? basename(folder)
}
