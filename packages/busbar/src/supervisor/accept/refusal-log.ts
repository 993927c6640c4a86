import type { EntranceStats } from '../../observe/app-status.ts'

type Refusals = Pick<EntranceStats, 'refusals'>

/** What the native entrance refuses although nothing is wrong with the request. */
const lines: Readonly<Record<string, string>> = {
  no_worker: 'no worker serves: requests get a 503',
  overloaded: 'every worker has as many requests as it may have: further ones get a 503',
  connection_limit:
    'as many connections are open as there may be: further ones get a 503; raise the limit of file descriptors (ulimit -n) to serve them',
}

/** Milliseconds. */
const interval = 1000

/**
 * Logs such refusals, at most one line a second for each reason: they come by the thousand. Returns
 * a function that ends it.
 */
export function logRefusals(stats: () => Refusals, log: (level: 'error', line: string) => void): () => void {
  let seen = countsOf(stats())
  const timer = setInterval(() => {
    const now = countsOf(stats())
    for (const [reason, line] of Object.entries(lines)) {
      const count = (now.get(reason) ?? 0) - (seen.get(reason) ?? 0)
      if (count > 0) log('error', `${line} (${count} in a second)`)
    }
    seen = now
  }, interval).unref()
  return () => clearInterval(timer)
}

function countsOf({ refusals }: Refusals): ReadonlyMap<string, number> {
  return new Map(refusals.map(({ reason, count }) => [reason, count]))
}
