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

/** Milliseconds of a connection that is to close. */
export interface IdleTimes {
  /** After which it counts as idle. */
  readonly idle: number
  /** After that, until a busy event loop has a short turn. */
  readonly turn: number
}

/** Checks in one turn. Each may close a connection. */
const mostAtOnce = 100
/** Milliseconds for one look for a short turn. */
const lookTime = 100

/** Until when each waits for a short turn (`performance.now()`). */
const waiting = new Map<() => void, number>()

/**
 * Runs `check` after a {@link shortTurn}, or after `longest` milliseconds. Of many, some run after
 * each: thousands of turns of their own would leave none that is short.
 */
export function afterShortTurn(check: () => void, longest: number): void {
  waiting.set(check, performance.now() + longest)
  if (waiting.size === 1) void runChecks()
}

/** Never rejects. */
async function runChecks(): Promise<void> {
  while (waiting.size > 0) {
    let left = (await shortTurn(lookTime)) ? mostAtOnce : 0
    const now = performance.now()
    for (const [check, until] of waiting) {
      if (left-- <= 0 && until > now) continue
      waiting.delete(check)
      check()
    }
  }
}
