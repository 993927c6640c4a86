import { randomInt } from 'node:crypto'
import { compute } from './contract.ts'

/** Unique to this thread: for programs, every thread of Busbar is the main thread with ID 0. */
const threadKey = ((globalThis as { threadKey?: number }).threadKey ??= randomInt(2 ** 32))

console.log(`loads in ${threadKey}`)
process.on('exit', () => console.log(`ends in ${threadKey}`))

const orders = new BroadcastChannel('pool')
orders.onmessage = ({ data }) => {
  if (data.thread === threadKey) spin(data.ms)
}

export default compute.implement({
  spin({ name, ms }) {
    console.log(`begins ${name}`)
    spin(ms)
    return { thread: threadKey }
  },
})

function spin(ms: number): void {
  if (ms < 0) process.exit(1)
  const end = performance.now() + ms
  while (performance.now() < end);
}
