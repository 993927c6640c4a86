import { appendFileSync, existsSync } from 'node:fs'
import { randomInt } from 'node:crypto'
import { jobs, type Peril } from './contract.ts'

/** Of this thread alone: to what it hosts, every thread of Busbar's is a main thread with the number 0. */
const threadKey = ((globalThis as { threadKey?: number }).threadKey ??= randomInt(2 ** 32))

const { kill, exit, pid } = process

async function end({ way, file }: Peril): Promise<never> {
  appendFileSync(file, 'x')
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
  who: () => `${pid}/${threadKey}`,
  once: end,
  again: async (peril) => (existsSync(peril.file) ? 'done' : await end(peril)),
  async *ticks(peril) {
    yield 1
    yield 2
    // What was made is to be out before.
    await new Promise((resolve) => setTimeout(resolve, 100))
    await end(peril)
  },
})
