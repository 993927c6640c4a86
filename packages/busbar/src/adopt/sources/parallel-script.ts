/** A script of `package.json` that starts several programs at once. */
import { basename, dirname, join } from 'node:path'
import { type PackageJson, readPackageJson } from '../../config/file/package-json.ts'
import { splitWords } from '../../config/services/start-script.ts'
import { ImportDraft } from '../import-draft.ts'
import type { Imported } from '../imported.ts'
import { applyLaunch } from '../launch/apply-launch.ts'
import { type Launch, parseLaunch, programLaunch } from '../launch/launch.ts'
import { findServer } from '../launch/server-evidence.ts'
import { workingFolder } from '../launch/working-folder.ts'

/** One of the commands that run at the same time. */
interface ParallelCommand {
  /** Undefined: the script gives it no name. */
  readonly name: string | undefined
  readonly line: string
}

/** The first of these that starts several commands. A development script may watch or rebuild. */
const scriptNames = [/^start$/, /^start\b/, /^serve\b/, /^dev$/, /^dev\b/] as const

/** Whether a script of the folder starts several programs. */
export async function hasParallelScript(root: string): Promise<boolean> {
  const found = await readPackageJson(root).catch(() => undefined)
  return found !== undefined && parallelCommands(found) !== undefined
}

/** The services that a script of the folder starts with `concurrently` and the like. */
export async function importParallelScript(root: string): Promise<Imported> {
  const draft = new ImportDraft('script', root, root)
  const found = await readPackageJson(root)
  const files = new Set<string | undefined>()
  for (const { name, line } of (found && parallelCommands(found)) ?? []) {
    const { folder, rest } = await workingFolder(line, root)
    const launch = await launchIn(folder, rest, root)
    files.add(launch.file)
    const file = launch.kind === 'program' ? launch.entry : undefined
    const service = draft.addService(name ?? nameFrom(folder, file, root))
    if (launch.kind === 'program') service.config.run = 'process'
    await applyLaunch({ service, folder, launch }, draft)
  }
  if (found?.main !== undefined) await addMain(found.main, files, draft)
  return draft.finish()
}

/** A folder's own start script says how it runs, where a development script of it only watches. */
async function launchIn(folder: string, line: string, root: string): Promise<Launch> {
  const launch = await parseLaunch(line, folder)
  if (launch.kind === 'program' || folder === root) return launch
  const start = (await readPackageJson(folder))?.scripts['start']
  const started = start === undefined ? undefined : await parseLaunch(start, folder)
  return started?.kind === 'program' ? started : launch
}

/** A server that is started by itself, as a gateway to the others. It gets the requests. */
async function addMain(main: string, files: ReadonlySet<string | undefined>, draft: ImportDraft): Promise<void> {
  const launch = await programLaunch({ file: main, args: [], env: {}, envFiles: [], nodeOptions: [] }, draft.root)
  if (launch.file === undefined || files.has(launch.file)) return
  const { listens, exportsOnly } = await findServer(launch.file)
  if (!listens || exportsOnly) return
  const service = draft.addService(nameFrom(draft.root, launch.entry, draft.root))
  service.config.run = 'process'
  await applyLaunch({ service, folder: draft.root, launch }, draft)
  draft.config.gateway = { ...draft.config.gateway, entry: service.name }
}

function parallelCommands({ scripts }: PackageJson): ParallelCommand[] | undefined {
  for (const pattern of scriptNames)
    for (const [name, script] of Object.entries(scripts)) {
      if (!pattern.test(name)) continue
      const commands = commandsOf(script, scripts)
      if (commands.length > 1) return commands
    }
  return undefined
}

function commandsOf(script: string, scripts: PackageJson['scripts']): ParallelCommand[] {
  // Here `*` matches names of scripts, not of files.
  const quotedPatterns = script.replaceAll(/(?<=\s)[\w:.-]+\*+(?=\s|$)/g, "'$&'")
  const [program, ...words] = splitWords(quotedPatterns) ?? []
  if (program === 'concurrently') return ofConcurrently(words, scripts)
  if (program === 'run-p' || (program === 'npm-run-all' && /\s(?:-p|--parallel)\b/.test(script)))
    return words.filter((word) => !word.startsWith('-')).flatMap((name) => ofScripts(name, scripts))
  // A shell runs these at the same time: `node a.js & node b.js`.
  const parts = script.split(/\s&(?=\s|$)/).map((part) => part.trim())
  return parts.filter((part) => part !== '' && part !== 'wait').map((line) => ({ name: undefined, line }))
}

/** Flags of `concurrently` with a value. */
const withValue = /^(?:-n|--names|-c|--prefix-colors|-p|--prefix|-l|--prefix-length|-m|--max-processes|-s|--success)$/

function ofConcurrently(words: readonly string[], scripts: PackageJson['scripts']): ParallelCommand[] {
  let names: readonly string[] = []
  const lines: string[] = []
  for (let at = 0; at < words.length; at++) {
    const [flag, inline] = words[at]!.startsWith('-') ? words[at]!.split(/=(.*)/s) : []
    if (flag === undefined) lines.push(words[at]!)
    else {
      const value = inline ?? (withValue.test(flag) ? words[++at] : undefined)
      if (flag === '-n' || flag === '--names') names = (value ?? '').split(',')
    }
  }
  return lines.flatMap((line, at) => {
    const script = /^(?:npm|pnpm|yarn|bun):(\S+)$/.exec(line)?.[1]
    if (script !== undefined) return ofScripts(script, scripts)
    return [{ name: names[at]?.trim() || undefined, line }]
  })
}

/** `start:*` stands for all scripts with this beginning. Their common beginning names nothing. */
function ofScripts(pattern: string, scripts: PackageJson['scripts']): ParallelCommand[] {
  const beginning = pattern.replace(/\*+$/, '')
  const names = pattern.endsWith('*') ? Object.keys(scripts).filter((name) => name.startsWith(beginning)) : [pattern]
  return names.flatMap((name) => {
    const line = scripts[name]
    const own = pattern.endsWith('*') ? name.slice(beginning.length) : ''
    return line === undefined ? [] : [{ name: own || name.replace(/^(?:start|serve|dev)[:-]/, ''), line }]
  })
}

/** The folder that it runs in, or else that of its module; `api` for `api.js` of the root. */
function nameFrom(folder: string, entry: string | undefined, root: string): string {
  if (folder !== root) return basename(folder)
  if (entry === undefined) return 'service'
  const module = join(root, entry)
  const within = dirname(module).replace(/[\\/](?:src|dist|lib|build|bin)$/, '')
  return within === root ? basename(module).replace(/\.\w+$/, '') : basename(within)
}
