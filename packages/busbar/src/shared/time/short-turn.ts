import { setImmediate as nextTurn } from 'node:timers/promises'

/** Milliseconds. */
const short = 5

/**
 * Resolves after a turn of the event loop that has read what had arrived, and has taken so little
 * time that hardly anything can have arrived since. After it, a connection without new bytes is
 * idle: closing it loses no request. One turn is not enough. A handler that runs for 200 ms in it
 * does so after the loop has asked which sockets are readable.
 *
 * Resolves in any case, to false, after about `longest` milliseconds (default: 1000), for a machine
 * that is too busy for a short turn.
 */
export async function shortTurn(longest = 1000): Promise<boolean> {
  const began = performance.now()
  for (let from = began; from - began < longest;) {
    await nextTurn()
    const now = performance.now()
    if (now - from < short) return true
    from = now
  }
  return false
}

/** Checks in one turn. Each may close a connection. */
const mostAtOnce = 100

const waiting = new Set<() => void>()

/**
 * Runs `check` after a {@link shortTurn}, some of them after each. Thousands of turns of their own
 * would leave none that is short.
 */
export function afterShortTurn(check: () => void): void {
  waiting.add(check)
  if (waiting.size === 1) void runChecks()
}

/** Never rejects. */
async function runChecks(): Promise<void> {
  while (waiting.size > 0) {
    const wasShort = await shortTurn()
    for (const check of [...waiting].slice(0, wasShort ? mostAtOnce : undefined)) {
      waiting.delete(check)
      check()
    }
  }
}
