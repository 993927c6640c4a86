import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Which processors the load engine and the servers use. */
export interface CpuAssignment {
  /** The load engine's own processor. Undefined if it shares all with the servers. */
  readonly generator: number | undefined
  /** Prefix for the command of an arm that keeps it off that processor. */
  readonly launcher: readonly string[]
}

/**
 * With fewer processors the load engine gets none of its own, since the servers need all of them.
 */
const minProcessors = 4

/** `allowed`: the processors that this process may use, in Linux's format: `0-3,6`. */
export function assignCpus(allowed: string | undefined = allowedHere()): CpuAssignment {
  const processors = allowed === undefined ? [] : numbersOf(allowed)
  if (processors.length < minProcessors) return { generator: undefined, launcher: [] }
  const servers = processors.slice(0, -1).join(',')
  return { generator: processors.at(-1), launcher: ['taskset', '--cpu-list', servers] }
}

/** Undefined if processes cannot be pinned to processors. */
function allowedHere(): string | undefined {
  if (process.platform !== 'linux' || spawnSync('taskset', ['--version']).status !== 0) return undefined
  return /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
}

function numbersOf(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number)
    return Array.from({ length: last! - first! + 1 }, (_, index) => first! + index)
  })
}
