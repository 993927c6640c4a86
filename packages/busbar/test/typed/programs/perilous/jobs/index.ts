import { existsSync, writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { jobs } from './contract.ts'

const { kill, exit, pid } = process

async function end(way: string): Promise<never> {
  console.log(`begins ${way}`)
  // The line is to be out before.
  await new Promise((resolve) => setTimeout(resolve, 50))
  if (way === 'exit') exit(3)
  if (way === 'throw')
    setImmediate(() => {
      throw new Error('thrown by a job')
    })
  if (way === 'SIGKILL' || way === 'SIGSTOP') kill(pid, way)
  while (way === 'loop') continue
  return await new Promise(() => {})
}

export default jobs.implement({
  who: () => `${pid}/${threadId}`,
  once: end,
  again: async ({ way, file }) => {
    if (existsSync(file)) return 'done'
    writeFileSync(file, '')
    return await end(way)
  },
  async *ticks(way) {
    yield 1
    yield 2
    await end(way)
  },
})
