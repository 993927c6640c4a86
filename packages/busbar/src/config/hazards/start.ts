import { execFile } from 'node:child_process'
import { access, constants, open } from 'node:fs/promises'
import { delimiter, extname, join, resolve } from 'node:path'
import type { Service } from '../app.ts'
import type { Hazard } from './hazard.ts'
import { pathKind } from '../file/file-lookup.ts'
import { bringsLoader } from './program.ts'
import { searchPath } from '../services/command.ts'

/** Finds reasons why a service cannot start. */
export async function findStartHazards(service: Service): Promise<Hazard[]> {
  const own = service.kind === 'command' ? await commandNotFound(service) : await entryNotModule(service)
  return [...own, ...(await flagsRefused(service))]
}

/** Extensions that Node loads, including none (`bin/www`). NOT_STRIPPABLE reports JSX. */
const modules: ReadonlySet<string> = new Set(['', ...'.js .mjs .cjs .ts .mts .cts .jsx .tsx .node .wasm'.split(' ')])

/** A shebang with another interpreter means another language. */
const javaScriptRuntime = /\b(?:node|nodejs|bun|deno|tsx|ts-node|npx)\b/

async function entryNotModule(service: Service): Promise<Hazard[]> {
  if (bringsLoader(service)) return []
  const { name, entry, kind } = service
  const extension = extname(entry.file)
  const shebang = await shebangOf(entry.file)
  const why = !modules.has(extension)
    ? `its entry ${entry.file} (${entry.foundBy}) is a ${extension} file, which Node does not run`
    : shebang !== undefined && !javaScriptRuntime.test(shebang)
      ? `its entry ${entry.file} (${entry.foundBy}) is a script of ${shebang}`
      : undefined
  if (why === undefined) return []
  const other = kind === 'typed' ? '' : ' For a program that is not for Node, set `command`.'
  return [
    {
      code: 'ENTRY_NOT_MODULE',
      services: [name],
      message: `${name} cannot start: ${why}`,
      hint: `Set services.${name}.entry to a JavaScript or TypeScript module.${other}`,
    },
  ]
}

async function shebangOf(file: string): Promise<string | undefined> {
  try {
    await using handle = await open(file)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0)
    return /^#!\s*(.+)/.exec(buffer.toString('latin1', 0, bytesRead))?.[1]?.trim()
  } catch {
    return undefined
  }
}

async function commandNotFound({ name, path, entry, env }: Service): Promise<Hazard[]> {
  const { file } = entry
  const isPath = /[/\\]/.test(file)
  const folders = isPath ? [path] : searchPath(path, env['PATH'] ?? process.env['PATH']).split(delimiter)
  for (const folder of folders)
    for (const extension of executables) if (await isExecutable(resolve(folder, file + extension))) return []
  const place = isPath ? resolve(path, file) : undefined
  return [
    {
      code: 'COMMAND_NOT_FOUND',
      services: [name],
      message: `services.${name}.command: ${place ?? file} ${place === undefined ? 'is neither in node_modules/.bin nor in PATH' : 'is not an executable file'}`,
      hint:
        place === undefined
          ? `Install ${file}, or write its path.`
          : 'Paths are relative to the folder of the service.',
    },
  ]
}

const executables = process.platform === 'win32' ? ['', '.exe', '.com', '.cmd', '.bat'] : ['']

async function isExecutable(file: string): Promise<boolean> {
  if ((await pathKind(file)) !== 'file') return false
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/**
 * Runs Node with the flags after `--version`: it then validates them and runs nothing. NODE_OPTIONS
 * is checked only if the service sets it and runs as a process, since threads do not read it.
 */
async function flagsRefused(service: Service): Promise<Hazard[]> {
  const { name, run, path, entry, nodeOptions, env } = service
  const fromScript = entry.nodeOptions.filter((flag) => !flag.startsWith('--watch'))
  const own = run === 'process' ? env['NODE_OPTIONS'] : undefined
  const sources: readonly [where: string, flags: readonly string[], options: string][] = [
    [`scripts.start of ${join(path, 'package.json')}`, fromScript, ''],
    [`services.${name}.nodeOptions`, nodeOptions, ''],
    ['its variable NODE_OPTIONS', [], own ?? ''],
  ]
  const hazards: Hazard[] = []
  for (const [where, flags, options] of sources) {
    if (flags.length === 0 && options === '') continue
    const refusal = await refusalOf(flags, options, path)
    if (refusal === undefined) continue
    hazards.push({
      code: 'FLAG_REFUSED',
      services: [name],
      message: `${name}: Node ${process.version} refuses a flag of ${where}: ${refusal}`,
      hint: 'Leave the flag out, or see `node --help` for the flags of this version.',
    })
  }
  return hazards
}

function refusalOf(flags: readonly string[], options: string, cwd: string): Promise<string | undefined> {
  const env = { ...process.env, NODE_OPTIONS: options }
  return new Promise((settle) => {
    execFile(process.execPath, ['--version', ...flags], { cwd, env, timeout: 10_000 }, (error, _stdout, stderr) => {
      // A signal or a failed start says nothing about the flags.
      if (error === null || typeof error.code !== 'number') return settle(undefined)
      // V8 reports first. The next line is Node's and names another flag.
      settle(stderr.split('\n', 1)[0]!.replace(/^(?:Error|.*node(?:\.exe)?): /, ''))
    })
  })
}
