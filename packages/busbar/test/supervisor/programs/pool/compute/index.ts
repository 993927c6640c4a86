import { threadId } from 'node:worker_threads'
import { compute } from './contract.ts'

export default compute.implement({
  spin({ name, ms }) {
    console.log(`begins ${name}`)
    const end = performance.now() + ms
    while (performance.now() < end);
    return { thread: threadId }
  },
})
