import { readFileSync, readlinkSync } from 'node:fs'

/**
 * A thread of the operating system. The id alone may be reused; with the start time it is unique.
 */
export interface OsThread {
  readonly number: number
  /** In the system's clock ticks since boot, in 31 bits. */
  readonly started: number
}

/**
 * The calling thread; only on Linux, by proc(5). Calls that end in `Sync` run in the calling
 * thread, so `thread-self` is the right one.
 */
export function currentOsThread(): OsThread | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const number = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    return { number, started: startOf(number) }
  } catch {
    return undefined
  }
}

/** False only if the thread is known to have ended. */
export function mayRun({ number, started }: OsThread): boolean {
  try {
    return startOf(number) === started
  } catch (error) {
    // ESRCH: it ended between opening and reading. If this thread itself cannot be found, the error
    // says nothing about others.
    const isGone = ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')
    return !isGone || currentOsThread() === undefined
  }
}

/** Throws if there is no such thread, or if that is unknown. */
function startOf(number: number): number {
  const line = readFileSync(`/proc/self/task/${number}/stat`, 'latin1')
  // The second field is a name in parentheses, which may contain anything; the start time is the
  // 22nd.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return Number(fields[19]) & 0x7fff_ffff
}
