import { threadId } from 'node:worker_threads'
import { compute } from './contract.ts'

console.log(`loads in ${threadId}`)
process.on('exit', () => console.log(`ends in ${threadId}`))

const orders = new BroadcastChannel('pool')
orders.onmessage = ({ data }) => {
  if (data.thread === threadId) spin(data.ms)
}

export default compute.implement({
  spin({ name, ms }) {
    console.log(`begins ${name}`)
    spin(ms)
    return { thread: threadId }
  },
})

function spin(ms: number): void {
  if (ms < 0) process.exit(1)
  const end = performance.now() + ms
  while (performance.now() < end);
}
