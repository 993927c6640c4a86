import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Terminals, shells and npm deliver one Ctrl-C several times: what comes within this many milliseconds is the same. */
const sameWish = 500

/** Aborts its signal at the first wish to stop; a later one ends the process at once, and the keeper the copies. */
export function stopOnSignal(): { signal: AbortSignal; forget: () => void } {
  const stop = new AbortController()
  let first: number | undefined
  const hear = (name: NodeJS.Signals) => {
    const now = performance.now()
    if (first !== undefined && now - first > sameWish) process.exit(128 + constants.signals[name])
    first ??= now
    stop.abort()
  }
  for (const name of signals) process.on(name, hear)
  return {
    signal: stop.signal,
    forget: () => {
      for (const name of signals) process.off(name, hear)
    },
  }
}
