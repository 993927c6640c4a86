/** How a command line of another tool starts a service. */
import { relative, resolve } from 'node:path'
import { pathKind } from '../../config/file/file-lookup.ts'
import { readPackageJson } from '../../config/file/package-json.ts'
import { splitCommand } from '../../config/services/command.ts'
import { resolveModule } from '../../config/services/entry.ts'
import { parseStartScript, splitWords, type StartScript } from '../../config/services/start-script.ts'

export type Launch = ProgramLaunch | CommandLaunch

export interface ProgramLaunch {
  readonly kind: 'program'
  /** Absolute. Undefined if it does not exist. */
  readonly file: string | undefined
  /** Relative to its folder, as a config has it. */
  readonly entry: string
  readonly args: readonly string[]
  /** Flags of Node, those of variables' files included. */
  readonly nodeOptions: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface CommandLaunch {
  readonly kind: 'command'
  readonly command: string
  /** The script that it runs, if that is known. Absolute. */
  readonly file?: string
  readonly env: Readonly<Record<string, string>>
}

/** Scripts that start scripts: enough for any real package. */
const maxDepth = 4

/**
 * `node server.js` is a program, and so is `npm start` if its script is `node server.js`. Anything
 * else is a command. `line`: as a shell reads it.
 */
export async function parseLaunch(line: string, folder: string, depth = 0): Promise<Launch> {
  // Busbar replaces only `$PORT`, and every other variable needs a shell.
  const text = servingCommand(line.trim()).replaceAll(/\$\{PORT(?::?-[^}]*)?\}/g, '$PORT')
  const script = parseStartScript(text)
  if (script !== undefined) return await programLaunch(script, folder)
  const { env, rest } = withoutVariables(text)
  const name = scriptName(rest)
  const named = name === undefined ? undefined : await scriptText(name, folder)
  if (named !== undefined && depth < maxDepth) {
    const inner = await parseLaunch(named, folder, depth + 1)
    return { ...inner, env: { ...env, ...inner.env } }
  }
  return { kind: 'command', command: commandText(rest), env }
}

/** A module that is started by its file. `file`: relative to `folder`. */
export async function programLaunch(script: StartScript, folder: string): Promise<ProgramLaunch> {
  const { args, env, envFiles, nodeOptions } = script
  const path = resolve(folder, script.file)
  const file = await resolveModule(path)
  const flags = envFiles.map(({ file: name, optional }) => `--env-file${optional ? '-if-exists' : ''}=${name}`)
  return {
    kind: 'program',
    file,
    entry: entryText(folder, file ?? path),
    args,
    nodeOptions: [...nodeOptions, ...flags],
    env,
  }
}

export function entryText(folder: string, file: string): string {
  const path = relative(folder, file).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

/** A command line that needs no shell, or one for a shell. */
export function commandText(line: string): string {
  if (splitCommand(line) !== undefined) return line
  const isOne = !/&&|\|\||[;|\n&]/.test(line) && !line.startsWith('exec ')
  return `sh -c ${quoted(isOne ? `exec ${line}` : line)}`
}

/** One word of a command line. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./$-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** A build that has to be done before Busbar starts anything. */
const building =
  /^(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?[\w:.-]*\bbuild\b[\w:.-]*|tsc(?:\s+(?:-[pb]|--project|--build)(?:\s+[\w./-]+)?)?)\s*&&\s*/

/** Only in front of a module: for TypeScript nodemon starts another program than Node. */
const watching =
  /^((?:(?:env|cross-env|[A-Za-z_]\w*=[^\s'"]*)\s+)*)(?:npx\s+)?nodemon\s+(?:(?:-[qVLCI]|--(?:quiet|verbose|legacy-watch|no-stdin)|(?:-[weid]|--(?:watch|ext|ignore|delay|signal|config))[ =]\S+)\s+)*(?=[^-\s]\S*\.[cm]?js(?:\s|$))/

/** `node dist/server.js` for `npm run build && node dist/server.js`, and for `nodemon` instead. */
function servingCommand(line: string): string {
  let rest = line
  while (building.test(rest)) rest = rest.replace(building, '')
  return rest.replace(watching, '$1node ')
}

/** The script that a package manager would run. Undefined for any other command. */
function scriptName(line: string): string | undefined {
  const words = splitWords(line)
  const [manager, first, second, ...more] = words ?? []
  if (manager === undefined || !/^(npm|pnpm|yarn|bun)$/.test(manager)) return undefined
  if (first === 'run' || first === 'run-script') return more.length === 0 ? second : undefined
  if (first === undefined || second !== undefined || first.startsWith('-')) return undefined
  return first === 'start' || manager !== 'npm' ? first : undefined
}

/** What npm and pnpm run: without a start script that is `server.js`, if there is one. */
async function scriptText(name: string, folder: string): Promise<string | undefined> {
  const found = await readPackageJson(folder)
  const script = found?.scripts[name]
  if (script !== undefined || found === undefined || name !== 'start') return script
  return (await pathKind(resolve(folder, 'server.js'))) === 'file' ? 'node server.js' : undefined
}

/** `NAME=value`, `env`, `cross-env` and `exec` in front of a command. */
function withoutVariables(line: string): { readonly env: Record<string, string>; readonly rest: string } {
  const env: Record<string, string> = {}
  let rest = line
  for (;;) {
    const [prefix, name, value = ''] = /^(?:env|cross-env|exec|([A-Za-z_]\w*)=([^\s'"$`\\]*))\s+/.exec(rest) ?? []
    if (prefix === undefined) return { env, rest }
    if (name !== undefined) env[name] = value
    rest = rest.slice(prefix.length)
  }
}

/** True for a folder. */
export async function isFolder(path: string): Promise<boolean> {
  return (await pathKind(path)) === 'folder'
}
