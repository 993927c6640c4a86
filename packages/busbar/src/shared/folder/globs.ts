import { replace } from '../replace.ts'
import { type Call, type Functions, globs } from './file-functions.ts'
import { type CurrentFolder, isRelative, pathIn } from './folder.ts'
import { localEntries } from './results.ts'

interface GlobOptions {
  readonly cwd?: unknown
  readonly withFileTypes?: unknown
}

/** `fs.glob` searches in the folder that an option names, and else in the current one. */
export function patchGlobs(
  callbacks: Functions,
  promises: Functions,
  folder: CurrentFolder,
  patches: DisposableStack,
): void {
  const all = [...globs.map((name) => [callbacks, name] as const), [promises, 'glob'] as const]
  for (const [target, name] of all)
    if (typeof target[name] === 'function')
      replace(patches, target, name, (original) => globIn(original, folder, name === 'globSync'))
}

/** Only `globSync` names the entries of folders by the path that it was given. */
function globIn(call: Call, folder: CurrentFolder, isLocal: boolean): Call {
  return (...args) => {
    const stated = isOptions(args[1])
    const options = (stated ? args[1] : {}) as GlobOptions
    const current = options.cwd === undefined || isRelative(options.cwd) ? folder() : undefined
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
