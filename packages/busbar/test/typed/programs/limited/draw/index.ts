import { randomInt } from 'node:crypto'
import { draw } from './contract.ts'

/** Of this thread alone: to what it hosts, every thread of Busbar's is a main thread with the number 0. */
const threadKey = ((globalThis as { threadKey?: number }).threadKey ??= randomInt(2 ** 32))

const worker = `${process.pid} ${threadKey}`
let inside = 0

export default draw.implement({
  async slowly({ ms }) {
    const atOnce = ++inside
    console.log('drawing')
    await new Promise((resolve) => setTimeout(resolve, ms))
    inside--
    return { atOnce, worker }
  },
  count: () => ({ worker }),
})
