import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Not inherited: code on the command line, a debugger's port, the test runner and its reporters,
 * and files of variables, which the environment has already.
 */
const ofThisProcess =
  /^(?:-e|-p|-pe|-c|-i|--(?:eval|print|check|interactive|input-type|inspect|test|experimental-test|watch|env-file|run)\b.*)$/

/** Flags that name modules, by a path or a URL. */
const namingModules = /^(?:--import|--loader|--experimental-loader)$/
/** Flags that name files. */
const namingFiles = /^(?:-r|--require|--experimental-config-file)$/

const forModules = /^(?:-r|-C|--(?:require|import|loader|experimental-loader|conditions))$/

/**
 * Flags of this process. Relative paths become absolute, because a service's process starts in the
 * service's folder. Read when this module is loaded: the supervisor may change the working
 * directory.
 */
const usable = grouped(process.execArgv)
  .filter(([flag]) => !ofThisProcess.test(flag!))
  .map(withAbsolutePaths)
export const inheritedFlags = usable.flat()

/**
 * The `execArgv` of threads. Undefined: a thread inherits all flags of this process. If that fails,
 * a thread gets those that decide which modules are loaded: Node refuses a module as the entry of a
 * thread under `--input-type`, and relative paths depend on the working directory.
 */
export const threadFlags: string[] | undefined =
  inheritedFlags.every((flag) => process.execArgv.includes(flag)) &&
  !process.execArgv.some((flag) => flag.startsWith('--input-type'))
    ? undefined
    : usable.filter(([flag]) => forModules.test(flag!.split('=', 1)[0]!)).flat()

/** A word without a dash is the value of the flag before it. */
function grouped(words: readonly string[]): string[][] {
  const flags: string[][] = []
  for (const word of words)
    if (word.startsWith('-')) flags.push([word])
    else flags.at(-1)?.push(word)
  return flags
}

function withAbsolutePaths([flag, ...values]: readonly string[]): string[] {
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(flag!) ?? []
  if (name !== undefined) return [`${name}=${absolutePath(name, value!)}`]
  return [flag!, ...values.map((one) => absolutePath(flag!, one))]
}

function absolutePath(flag: string, value: string): string {
  if (!/^\.\.?[/\\]/.test(value)) return value
  if (namingModules.test(flag)) return new URL(value, pathToFileURL(`${process.cwd()}/`)).href
  return namingFiles.test(flag) ? resolve(value) : value
}
