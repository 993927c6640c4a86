import { replaceProperty } from '../process/replace-property.ts'
import { type Call, type Functions, globs } from './file-functions.ts'
import { type CurrentDirectory, isRelative, pathIn, localEntries } from './relative-paths.ts'

interface GlobOptions {
  readonly cwd?: unknown
  readonly withFileTypes?: unknown
}

/** `fs.glob` searches the directory of an option, by default the current one. */
export function patchGlobs(
  callbacks: Functions,
  promises: Functions,
  directory: CurrentDirectory,
  patches: DisposableStack,
): void {
  const all = [...globs.map((name) => [callbacks, name] as const), [promises, 'glob'] as const]
  for (const [target, name] of all)
    if (typeof target[name] === 'function')
      replaceProperty(patches, target, name, (original) => globIn(original, directory, name === 'globSync'))
}

/** Only `globSync` returns entries with the path as given. */
function globIn(call: Call, directory: CurrentDirectory, isLocal: boolean): Call {
  return (...args) => {
    const stated = isOptions(args[1])
    const options = (stated ? args[1] : {}) as GlobOptions
    const current = options.cwd === undefined || isRelative(options.cwd) ? directory() : undefined
    if (current === undefined) return call(...args)
    const cwd = options.cwd === undefined ? current : pathIn(current, options.cwd as string)
    const all = args.toSpliced(1, stated || args[1] === undefined ? 1 : 0, { ...options, cwd })
    const found = call(...all)
    return isLocal && options.withFileTypes ? localEntries(found, current) : found
  }
}

function isOptions(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
