/**
 * Finds processes that tests started and did not end, including grandchildren and detached ones.
 * Each test file sets a mark in its environment, which its processes inherit, and Linux exposes the
 * environment of running processes.
 */
import { readdirSync, readFileSync } from 'node:fs'

const variable = 'BUSBAR_TEST_RUN'

export interface LeakedProcess {
  readonly pid: number
  readonly command: string
}

/**
 * Marks all processes that this one starts from now on. An inherited mark is the prefix of the new
 * one.
 */
export function markRun(): string {
  const mark = [process.env[variable], process.pid].filter(Boolean).join('/')
  process.env[variable] = mark
  return mark
}

/**
 * Other processes with this mark or a longer one. Empty without `/proc`, whose files are read
 * synchronously: the kernel answers from memory.
 */
export function processesOf(mark: string): LeakedProcess[] {
  return pids().flatMap((pid) => markedProcess(pid, mark) ?? [])
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

function markedProcess(pid: number, mark: string): LeakedProcess | undefined {
  if (pid === process.pid) return undefined
  try {
    // The initial environment of the process, so without a mark that it set later.
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    const marked = environment.some(
      (entry) => entry === `${variable}=${mark}` || entry.startsWith(`${variable}=${mark}/`),
    )
    if (!marked) return undefined
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()
    // A zombie has no command line.
    return command === '' ? undefined : { pid, command }
  } catch {
    // It has exited, or belongs to another user.
    return undefined
  }
}
