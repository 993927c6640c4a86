import { setImmediate as nextTurn } from 'node:timers/promises'

/** Milliseconds. */
const short = 5

/**
 * Resolves after a turn of the event loop that has read what had arrived, and has taken so little
 * time that hardly anything can have arrived since. After it, a connection without new bytes is
 * idle: closing it loses no request. One turn is not enough. A handler that runs for 200 ms in it
 * does so after the loop has asked which sockets are readable.
 *
 * Resolves in any case after about `longest` milliseconds (default: 1000), for a machine that is
 * too busy for a short turn.
 */
export async function shortTurn(longest = 1000): Promise<void> {
  const began = performance.now()
  for (let from = began; from - began < longest;) {
    await nextTurn()
    const now = performance.now()
    if (now - from < short) return
    from = now
  }
}
