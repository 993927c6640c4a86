import childProcess from 'node:child_process'
import { promisify } from 'node:util'
import { replaceProperty, copyFunctionProperties } from '../process/replace-property.ts'
import { type CurrentDirectory, isRelative, pathIn } from './relative-paths.ts'

type Start = (...args: unknown[]) => unknown

/** `(file, args?, options?, callback?)`; `exec` and `execSync` take no `args`. */
const starts = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const

/**
 * Starts processes in the current directory unless they set `cwd`. The child itself resolves a
 * relative file, as in `fork('./task.js')`.
 */
export function patchChildren(directory: CurrentDirectory, patches: DisposableStack): void {
  for (const name of starts) {
    const at = name === 'exec' || name === 'execSync' ? () => 1 : optionsAt
    replaceProperty(patches, childProcess as unknown as Record<string, Start>, name, (original) => {
      const custom = (original as { [promisify.custom]?: Start })[promisify.custom]
      const replacement = startsIn(directory, at, original)
      if (custom === undefined) return replacement
      const value = copyFunctionProperties(startsIn(directory, at, custom), custom)
      return Object.defineProperty(replacement, promisify.custom, { value, configurable: true })
    })
  }
}

function startsIn(directory: CurrentDirectory, at: (args: readonly unknown[]) => number, start: Start): Start {
  return function (this: unknown, ...args) {
    const current = directory()
    return Reflect.apply(start, this, current === undefined ? args : withDirectory(args, at(args), current))
  }
}

function optionsAt(args: readonly unknown[]): number {
  return Array.isArray(args[1]) || (args[1] ?? undefined) === undefined ? 2 : 1
}

function withDirectory(args: unknown[], at: number, directory: string): unknown[] {
  const stated = args[at]
  // Left to Node, which refuses it.
  if (!isNothing(stated) && typeof stated !== 'object' && typeof stated !== 'function') return args
  const options = (typeof stated === 'object' ? (stated ?? {}) : {}) as { cwd?: unknown }
  if (!isNothing(options.cwd) && !isRelative(options.cwd)) return args
  const cwd = isRelative(options.cwd) ? pathIn(directory, options.cwd) : directory
  const before = [...args.slice(0, at), ...Array.from({ length: Math.max(0, at - args.length) })]
  return [...before, { ...options, cwd }, ...args.slice(typeof stated === 'function' ? at : at + 1)]
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}
