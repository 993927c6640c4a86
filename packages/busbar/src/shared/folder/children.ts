import childProcess from 'node:child_process'
import { promisify } from 'node:util'
import { replace, resembling } from '../replace.ts'
import { type CurrentFolder, isRelative, pathIn } from './folder.ts'

type Start = (...args: unknown[]) => unknown

/** `(file, args?, options?, callback?)`; `exec` takes no `args`. */
const starts = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const

/**
 * Starts processes in `folder` unless they are told another one. A relative file, as of `fork('./task.js')`, is looked for by the
 * child itself.
 */
export function patchChildren(folder: CurrentFolder, patches: DisposableStack): void {
  for (const name of starts) {
    const at = name === 'exec' || name === 'execSync' ? () => 1 : optionsAt
    replace(patches, childProcess as unknown as Record<string, Start>, name, (original) => {
      const custom = (original as { [promisify.custom]?: Start })[promisify.custom]
      const replacement = startsIn(folder, at, original)
      if (custom === undefined) return replacement
      const value = resembling(startsIn(folder, at, custom), custom)
      return Object.defineProperty(replacement, promisify.custom, { value, configurable: true })
    })
  }
}

function startsIn(folder: CurrentFolder, at: (args: readonly unknown[]) => number, start: Start): Start {
  return function (this: unknown, ...args) {
    const current = folder()
    return Reflect.apply(start, this, current === undefined ? args : withFolder(args, at(args), current))
  }
}

function optionsAt(args: readonly unknown[]): number {
  return Array.isArray(args[1]) || (args[1] ?? undefined) === undefined ? 2 : 1
}

function withFolder(args: unknown[], at: number, folder: string): unknown[] {
  const stated = args[at]
  // What Node refuses it refuses.
  if (!isNothing(stated) && typeof stated !== 'object' && typeof stated !== 'function') return args
  const options = (typeof stated === 'object' ? (stated ?? {}) : {}) as { cwd?: unknown }
  if (!isNothing(options.cwd) && !isRelative(options.cwd)) return args
  const cwd = isRelative(options.cwd) ? pathIn(folder, options.cwd) : folder
  const before = [...args.slice(0, at), ...Array.from({ length: Math.max(0, at - args.length) })]
  return [...before, { ...options, cwd }, ...args.slice(typeof stated === 'function' ? at : at + 1)]
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}
