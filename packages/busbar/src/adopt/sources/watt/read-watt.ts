import { basename, dirname, join, resolve } from 'node:path'
import { listFolder } from '../../../config/file/file-lookup.ts'
import { isPlainObject } from '../../../config/schema/placeholders.ts'
import { toServiceName } from '../../../config/services/service-name.ts'
import { ImportDraft } from '../../import-draft.ts'
import type { Imported } from '../../imported.ts'
import { applyRules, type KeyRule, textOf, textsOf } from '../../key-rules.ts'
import { applyLaunch } from '../../launch/apply-launch.ts'
import { isFolder } from '../../launch/launch.ts'
import {
  applicationKind,
  type ApplicationKind,
  type Fields,
  fileOutcome,
  readApplicationFile,
  reportFile,
} from './application-file.ts'
import { applicationRules, workers } from './application-rules.ts'
import { runtimeRules, serverRules } from './runtime-rules.ts'
import { wattText, readWattJson } from './watt-text.ts'

interface Application {
  readonly id: string
  readonly folder: string
  /** Where its keys are in the file. */
  readonly at: string
  readonly fields: Fields
}

const unknown = 'Watt has no such key'

/**
 * `watt.json` or `platformatic.json`, of a runtime or of one application. Nothing of Watt is
 * loaded.
 */
export async function importWatt(file: string): Promise<Imported> {
  const draft = new ImportDraft('watt', file, dirname(file))
  const fields = await readWattJson(file)
  const applications = await listApplications(fields, draft.root)
  for (const application of applications) await importApplication(application, fields['workers'], draft)
  const [alone] = applications.length === 1 && applications[0]!.folder === draft.root ? draft.services : []
  const otherwise: KeyRule<ImportDraft> =
    alone === undefined ? unknown : (_, value, key) => fileOutcome(key, value, alone)
  applyRules(runtimeRules, { at: '', object: fields, context: draft, otherwise }, draft)
  const { server } = fields
  if (isPlainObject(server))
    applyRules(serverRules, { at: 'server', object: server, context: draft, otherwise: unknown }, draft)
  if (applications.length > 1)
    draft.report('http://<id>.plt.local', {
      why: 'services are http://<name>.internal here: change it where the sources have it; the environment above is changed already',
    })
  return draft.finish()
}

/** Those of the lists, those of `autoload`, else the folder itself. */
async function listApplications(fields: Fields, root: string): Promise<Application[]> {
  const found: Application[] = []
  for (const key of ['applications', 'services', 'web']) {
    const list = Array.isArray(fields[key]) ? fields[key].filter(isPlainObject) : []
    for (const [index, one] of list.entries()) {
      const folder = resolve(root, wattText(textOf(one['path'], '')))
      found.push({ id: textOf(one['id'], basename(folder)), folder, at: `${key}[${index}]`, fields: one })
    }
  }
  const { autoload } = fields
  if (isPlainObject(autoload)) found.push(...(await autoloaded(autoload, root)))
  if (found.length > 0 || fields['entrypoint'] !== undefined) return found
  return [{ id: basename(root), folder: root, at: '', fields: {} }]
}

async function autoloaded({ path, exclude, mappings }: Fields, root: string): Promise<Application[]> {
  const parent = resolve(root, wattText(textOf(path, '.')))
  const excluded = new Set(textsOf(exclude))
  const found: Application[] = []
  for (const name of await listFolder(parent)) {
    const folder = join(parent, name)
    if (excluded.has(name) || name.startsWith('.') || name === 'node_modules' || !(await isFolder(folder))) continue
    const mapping = isPlainObject(mappings) && isPlainObject(mappings[name]) ? mappings[name] : {}
    const at = Object.keys(mapping).length === 0 ? '' : `autoload.mappings.${name}`
    found.push({ id: textOf(mapping['id'], name), folder, at, fields: mapping })
  }
  return found
}

async function importApplication(application: Application, allWorkers: unknown, draft: ImportDraft): Promise<void> {
  const { id, folder, at, fields } = application
  if (fields['enabled'] === false) return draft.leaveOut(undefined, id, 'it is switched off (enabled)')
  if (!(await isFolder(folder)))
    return draft.leaveOut(undefined, id, `${folder} does not exist: run wattpm resolve first`)
  // The file of the root would be read as that of its only application.
  const file =
    folder === draft.root
      ? { at: '', fields: await rootFields(draft) }
      : await readApplicationFile(folder, fields['config'], draft.root)
  const found = await applicationKind(folder, file)
  if (found.kind === 'unsupported') return draft.leaveOut(undefined, id, found.why)
  if (found.kind === 'gateway') return importRoutes(id, found, draft)
  const service = draft.addService(id)
  // The gateway of Watt is the only one that listens on a port.
  if (!(await applyLaunch({ service, folder, launch: found.launch }, draft))) return
  service.port = undefined
  if (allWorkers !== undefined && fields['workers'] === undefined)
    draft.report(`workers of ${id}`, workers(service, allWorkers))
  applyRules(
    applicationRules,
    { at, object: fields, context: { service, folder, root: draft.root }, otherwise: unknown },
    draft,
  )
  reportFile(file, service, draft)
}

async function rootFields(draft: ImportDraft): Promise<Fields> {
  return await readWattJson(draft.source)
}

/** The prefixes of a gateway of Platformatic are Busbar's routes. */
function importRoutes(id: string, { at, fields }: ApplicationKind & { kind: 'gateway' }, draft: ImportDraft): void {
  const gateway = ['gateway', 'composer'].map((key) => fields[key]).find(isPlainObject) ?? {}
  const lists = [gateway['applications'], gateway['services']].find(Array.isArray) as unknown[] | undefined
  const routes: Record<string, string> = {}
  for (const [index, one] of (lists ?? []).filter(isPlainObject).entries()) {
    const proxy = isPlainObject(one['proxy']) ? one['proxy'] : {}
    const name = toServiceName(String(one['id']))
    const prefix = textOf(proxy['prefix'], `/${name}`).replace(/(.)\/$/, '$1')
    routes[prefix] = name
    draft.report(`${at}: gateway.applications[${index}]`, {
      to: `gateway.routes['${prefix}']`,
      note: 'without its openapi and graphql parts',
    })
  }
  draft.config.gateway = { ...draft.config.gateway, routes }
  draft.leaveOut(undefined, id, "it is a gateway of Platformatic: Busbar's own gateway has its routes")
}
