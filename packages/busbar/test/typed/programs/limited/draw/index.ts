import { randomInt } from 'node:crypto'
import { draw } from './contract.ts'

/** Identifies this thread. To hosted code, every thread of Busbar is a main thread with id 0. */
const threadKey = ((globalThis as { threadKey?: number }).threadKey ??= randomInt(2 ** 32))

const worker = `${process.pid} ${threadKey}`
let inside = 0

export default draw.implement({
  async slowly({ ms }) {
    const atOnce = ++inside
    console.log(`drawing ${ms}`)
    await new Promise((resolve) => setTimeout(resolve, ms))
    inside--
    return { atOnce, worker }
  },
  count: () => ({ worker }),
})
