import type { OpenStore } from '../store/store.ts'
import { stock } from './contract.ts'

/** Milliseconds between polls, since another worker or process may change the stock. */
const interval = 250

export const stockOn = (open: OpenStore) =>
  stock.implement(() => {
    const store = open()
    return {
      levels: ({ products }) => store.levels(products),
      async *watch({ products }, { signal }) {
        let shown: string | undefined
        while (!signal.aborted) {
          const levels = store.levels(products)
          const now = JSON.stringify(levels)
          if (now !== shown) yield levels
          shown = now
          await pause(interval, signal)
        }
      },
      take({ order, wanted }, { fail }) {
        const short = store.take(order, wanted)
        if (short !== undefined) fail('SOLD_OUT', short)
      },
      [Symbol.dispose]: () => store[Symbol.dispose](),
    }
  })

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const end = (): void => resolve()
  signal.addEventListener('abort', end, { once: true })
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
}
