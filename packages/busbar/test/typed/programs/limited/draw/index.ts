import { threadId } from 'node:worker_threads'
import { draw } from './contract.ts'

const worker = `${process.pid} ${threadId}`
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
