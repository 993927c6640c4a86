/**
 * Finds processes that tests started and nobody ended, grandchildren and detached ones too: each test file marks its
 * environment, every process it starts inherits the mark, and Linux shows the environment of what runs.
 */
import { readFile, readdir } from 'node:fs/promises'

const variable = 'BUSBAR_TEST_RUN'

export interface StrayProcess {
  readonly pid: number
  readonly command: string
}

/** Marks whatever this process starts from now on. A mark that was inherited stays the beginning of the new one. */
export function markRun(): string {
  const mark = [process.env[variable], process.pid].filter(Boolean).join('/')
  process.env[variable] = mark
  return mark
}

/** What runs under a mark or one made from it, this process aside. Knows nothing where there is no `/proc`. */
export async function runningOf(mark: string): Promise<StrayProcess[]> {
  const names = await readdir('/proc').catch(() => [])
  const found = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((pid) => lookAt(Number(pid), mark)))
  return found.filter((process) => process !== undefined)
}

async function lookAt(pid: number, mark: string): Promise<StrayProcess | undefined> {
  if (pid === process.pid) return undefined
  try {
    // The environment as it was when the process began: this one's own mark, set later, is not in it.
    const environment = (await readFile(`/proc/${pid}/environ`, 'latin1')).split('\0')
    const marked = environment.some(
      (entry) => entry === `${variable}=${mark}` || entry.startsWith(`${variable}=${mark}/`),
    )
    if (!marked) return undefined
    const command = (await readFile(`/proc/${pid}/cmdline`, 'latin1')).replaceAll('\0', ' ').trim()
    // One that has ended and waits to be reaped has no command line any more.
    return command === '' ? undefined : { pid, command }
  } catch {
    // It ended while it was looked at, or is another user's.
    return undefined
  }
}
