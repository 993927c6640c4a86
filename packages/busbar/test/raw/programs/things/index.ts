import { things } from './contract.ts'

/** Returns its input. */
export default things.implement({
  echo: (input) => input,
  none: () => 'none',
  thing: (input) => input,
  name: (input) => input,
  async *ticks({ count }) {
    for (let tick = 0; tick < count; tick++) yield await Promise.resolve(tick)
  },
})
