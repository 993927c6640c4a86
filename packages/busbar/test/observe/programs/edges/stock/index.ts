import { stock } from './contract.ts'

export default stock.implement({
  count: ({ id }, { fail }) => (id === 0 ? fail('GONE') : id * 10),
  broken: () => {
    throw new Error('broken on purpose')
  },
  slow: async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return 1
  },
  async *ticks() {
    for (let at = 1; at <= 3; at++) yield at
  },
})
