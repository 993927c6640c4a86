import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Who runs where. */
export interface Cores {
  /** The processor that the load engine stays on; undefined where it shares with the servers. */
  readonly generator: number | undefined
  /** What goes before the command of an arm, so that it keeps off that processor. */
  readonly launcher: readonly string[]
}

/** From four processors on the generator has one of its own: with fewer, the servers could not do without it. */
const enough = 4

/** `allowed`: the processors that this process may use, as Linux lists them: `0-3,6`. */
export function shareOut(allowed: string | undefined = allowedHere()): Cores {
  const processors = allowed === undefined ? [] : numbersOf(allowed)
  if (processors.length < enough) return { generator: undefined, launcher: [] }
  const servers = processors.slice(0, -1).join(',')
  return { generator: processors.at(-1), launcher: ['taskset', '--cpu-list', servers] }
}

/** Undefined where processes cannot be kept on processors. */
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
