import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, resolve } from 'node:path'
import { firstExistingFile, pathKind } from '../../../config/file/file-lookup.ts'
import { isPlainObject } from '../../../config/schema/placeholders.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { ImportDraft } from '../../import-draft.ts'
import type { Imported } from '../../imported.ts'
import { applyRules, textsOf } from '../../key-rules.ts'
import { applyLaunch } from '../../launch/apply-launch.ts'
import { commandText, isFolder, type Launch, parseLaunch, programLaunch, quoted } from '../../launch/launch.ts'
import { otherKey, pm2Rules } from './pm2-rules.ts'
import { readPm2File } from './pm2-file.ts'

type Fields = Readonly<Record<string, unknown>>

/** `ecosystem.config.js` and its variants. Nothing of PM2 is loaded. */
export async function importPm2(file: string): Promise<Imported> {
  const draft = new ImportDraft('pm2', file, dirname(file))
  const content = await readPm2File(file)
  const { key, apps } = appsOf(content, file)
  for (const [index, app] of apps.entries()) {
    const at = key === '' ? `[${index}]` : `${key}[${index}]`
    if (isPlainObject(app)) await importApp(app, at, draft)
    else draft.report(at, { why: 'it is not an object with a script' })
  }
  if (isPlainObject(content))
    for (const other of Object.keys(content).filter((name) => name !== key && key !== ''))
      draft.report(other, {
        why: other === 'deploy' ? 'Busbar copies no code to other machines' : 'PM2 has no such key',
      })
  return draft.finish()
}

/**
 * PM2 accepts an object with `apps` or `pm2`, a list, and one app. `static` has its own file
 * servers.
 */
function appsOf(content: unknown, file: string): { readonly key: string; readonly apps: readonly unknown[] } {
  const fields = isPlainObject(content) ? content : {}
  const key = ['apps', 'pm2', 'static'].find((name) => fields[name] !== undefined) ?? ''
  const list: unknown = key === '' ? content : fields[key]
  const apps: readonly unknown[] = Array.isArray(list) ? list : [list]
  const isApp = (app: Fields): boolean => scriptOf(app) !== '' || isFileServer(app) || key === 'static'
  if (apps.some((app) => isPlainObject(app) && isApp(app))) return { key, apps }
  throw new BusbarError('CONFIG_INVALID', {
    message: `${file} has no app of PM2: an object of apps, each with a script`,
    hint: 'Give the path of the ecosystem file.',
  })
}

async function importApp(app: Fields, at: string, draft: ImportDraft): Promise<void> {
  const script = scriptOf(app)
  // A command line is named by its first word.
  const [file = ''] = script.split(/\s/)
  const name = typeof app['name'] === 'string' ? app['name'] : basename(file, extname(file))
  if (isFileServer(app) || at.startsWith('static['))
    return draft.leaveOut(undefined, name || at, "it is PM2's own server of static files")
  if (script === '') return draft.leaveOut(undefined, name || at, 'it has no script')
  const service = draft.addService(name)
  const folder = resolve(draft.root, typeof app['cwd'] === 'string' ? app['cwd'] : '.')
  const launch = await launchOf(app, script, folder)
  if (launch.kind === 'program') service.config.run = 'process'
  const isHosted = await applyLaunch({ service, folder, launch }, draft)
  if (!isHosted) return
  // A port of the sources is a guess, which one of the file overrides.
  applyRules(pm2Rules, { at, object: app, context: { service, app }, otherwise: otherKey }, draft)
}

function isFileServer(app: Fields): boolean {
  return scriptOf(app) === 'serve' || app['serve'] === true
}

function scriptOf(app: Fields): string {
  const script = app['script'] ?? app['exec'] ?? app['cmd']
  return typeof script === 'string' ? script : ''
}

/** Interpreters that PM2 chooses by the extension. */
const interpreters: Readonly<Record<string, string>> = {
  '.sh': 'bash',
  '.py': 'python3',
  '.rb': 'ruby',
  '.php': 'php',
  '.pl': 'perl',
  '.coffee': 'coffee',
  '.ls': 'lsc',
}

/** True for a file that is no text: PM2 runs it without an interpreter. */
async function isExecutable(path: string): Promise<boolean> {
  if (extname(path) !== '' || (await pathKind(path)) !== 'file') return false
  return (await readFile(path)).subarray(0, 512).includes(0)
}

async function launchOf(app: Fields, script: string, folder: string): Promise<Launch> {
  const args = textsOf(app['args'])
  const interpreter = app['exec_interpreter'] ?? app['interpreter'] ?? interpreters[extname(script)]
  const path = resolve(folder, script)
  const isNode = typeof interpreter === 'string' ? /(^|\/)node(@.*)?$/.test(interpreter) : !(await isExecutable(path))
  const isFile = (await firstExistingFile([path, `${path}.js`])) !== undefined || (await isFolder(path))
  if (isNode && (isFile || /\.[cm]?[jt]s$/.test(script)))
    return await programLaunch({ file: script, args, env: {}, envFiles: [], nodeOptions: [] }, folder)
  const flags = textsOf(app['node_args'] ?? app['interpreterArgs'] ?? app['interpreter_args'])
  const prefix = typeof interpreter !== 'string' || isNode || interpreter === 'none' ? [] : [interpreter, ...flags]
  // A file in PATH, such as npm.
  if (prefix.length === 0 && !isFile) return await parseLaunch([script, ...args.map(quoted)].join(' '), folder)
  const file = prefix.length === 0 && !script.includes('/') ? `./${script}` : script
  const command = commandText([...prefix, file, ...args].map(quoted).join(' '))
  return { kind: 'command', command, env: {}, ...(prefix.length > 0 && isFile && { file: path }) }
}
