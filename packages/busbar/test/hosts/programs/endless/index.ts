import { service, stream, type } from 'busbar/contract'

/** Its streams end when their instance does. */
const shop = service('shop', { ticks: stream({ input: type<number>(), output: type<number>() }) })

export default shop.implement({
  async *ticks(first, { signal }) {
    yield first
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  },
})
