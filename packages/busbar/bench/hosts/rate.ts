/** Calls in flight of every arm, and what each of them sends. */
import assert from 'node:assert/strict'

export const order = { id: 7, items: [{ sku: 'a-1', count: 2 }], note: 'as soon as possible' }
const inFlight = 64
/** Of agents with a limit. Over plain TCP, undici is at least as fast as without one. */
export const connections = 16

export type Call = () => Promise<unknown>

/** Calls per second. Rejects if an answer is wrong. */
export async function rate(call: Call, duration: number): Promise<number> {
  assert.deepEqual(await call(), { at: 'far', input: order })
  const began = performance.now()
  let count = 0
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (; performance.now() - began < duration; count++) await call()
    }),
  )
  return (count * 1000) / (performance.now() - began)
}
