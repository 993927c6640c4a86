import { readFileSync, readlinkSync } from 'node:fs'

/** A thread as the operating system knows it. The number alone may come again; with the time of its start it does not. */
export interface OsThread {
  readonly number: number
  /** In the system's clock ticks since it booted, as far as 31 bits go. */
  readonly started: number
}

/**
 * The calling thread, where the system tells: Linux, by proc(5). File calls that end in `Sync` are made by the calling
 * thread itself, so `thread-self` is the right one.
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

/** False only where the thread is known to have ended. */
export function mayRun({ number, started }: OsThread): boolean {
  try {
    return startOf(number) === started
  } catch (error) {
    // ESRCH: it ended between opening and reading. Where we are not to be found ourselves, that says nothing of others.
    const isGone = ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')
    return !isGone || currentOsThread() === undefined
  }
}

/** Throws when there is no such thread, or it cannot be told. */
function startOf(number: number): number {
  const line = readFileSync(`/proc/self/task/${number}/stat`, 'latin1')
  // The second field is a name in parentheses, which may hold anything; the start is the 22nd.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return Number(fields[19]) & 0x7fff_ffff
}
