import { appendFileSync, existsSync } from 'node:fs'
import { randomInt } from 'node:crypto'
import { jobs, type Crash } from './contract.ts'

/** Identifies this thread. To hosted code, every thread of Busbar is a main thread with id 0. */
const threadKey = ((globalThis as { threadKey?: number }).threadKey ??= randomInt(2 ** 32))

const { kill, exit, pid } = process

async function end({ way, file }: Crash): Promise<never> {
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
  again: async (crash) => (existsSync(crash.file) ? 'done' : await end(crash)),
  async *ticks(crash) {
    yield 1
    yield 2
    // So that these values are sent first.
    await new Promise((resolve) => setTimeout(resolve, 100))
    await end(crash)
  },
})
