import { AsyncLocalStorage } from 'node:async_hooks'
import { client } from 'busbar/client'
import { stock } from './contract.ts'

const self = client(stock)
const aborted: string[] = []

export default stock.implement({
  count: ({ id }) => id * 10,
  context: (_, { caller, trace, timeLeft }) => ({
    caller,
    trace,
    limited: timeLeft < Infinity,
    store: (globalThis as { webStore?: AsyncLocalStorage<string> }).webStore?.getStore(),
  }),
  hang: async (name, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    aborted.push(`${name} ${(signal.reason as { code: string }).code}`)
  },
  aborted: () => aborted,
  around: () => self.around(),
  async *ticks() {
    for (let at = 1; at <= 3; at++) yield at
  },
})
