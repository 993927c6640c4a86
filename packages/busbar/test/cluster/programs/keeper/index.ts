import { keeper } from './contract.ts'

/** Each instance has a number of its own: to programs all threads look like the main one. */
const number = Math.floor(Math.random() * 2 ** 31)

export default keeper.implement({
  where: async () => number,
  who: async () => process.env['WHO'] ?? '',
  waits: async () => await new Promise(() => {}),
  async *ticks(_input, { signal }) {
    for (let tick = 0; !signal.aborted; tick++) {
      yield tick
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  },
})
