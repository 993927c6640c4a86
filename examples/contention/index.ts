import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Work } from './thread.ts'
import { counters } from './counters.ts'

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '4' },
    tasks: { type: 'string', default: '500' },
    iterations: { type: 'string', default: '100000' },
    shards: { type: 'string', default: '500' },
  },
})
const [workers, tasks, iterations, shards] = [
  number('workers', 100),
  number('tasks', 100_000),
  number('iterations', 10_000_000),
  number('shards', 1000),
] as const
const expected = tasks * iterations
if (expected >= 2 ** 31) fail(`${expected} is more than a cell of 32 bits can count to`)

console.log(`${tasks} tasks of ${group(iterations)} increments each, by ${workers} threads\n`)
print('', 'seconds', 'against a mutex', 'total')
let mutex: number | undefined
for (const [name, counter] of Object.entries(counters)) {
  const seconds = await run(name)
  mutex ??= seconds
  const total = counter.total(shards)
  print(name, seconds.toFixed(3), `${(mutex / seconds).toFixed(1)} x`, group(total))
  if (total !== expected) fail(`${name} lost ${expected - total} of ${expected} increments`)
}

/** Seconds from when all threads were ready to when the last one was done. */
async function run(counter: string): Promise<number> {
  const threads = Array.from({ length: workers }, (_, index) => {
    const own = Array.from({ length: tasks }, (_, task) => task).filter((task) => task % workers === index)
    const work: Work = { counter, shards, iterations, tasks: own }
    return new Worker(new URL('thread.ts', import.meta.url), { workerData: work })
  })
  const heard = (): Promise<unknown> => Promise.all(threads.map((thread) => once(thread, 'message')))
  await heard()
  const start = performance.now()
  for (const thread of threads) thread.postMessage('count')
  await heard()
  return (performance.now() - start) / 1000
}

function number(name: keyof typeof values, most: number): number {
  const value = Number(values[name])
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  return fail(`--${name} is a whole number from 1 to ${group(most)}`)
}

function print(...[counter, ...figures]: string[]): void {
  console.log(counter!.padEnd(18) + figures.map((figure) => figure.padStart(16)).join(''))
}

function group(value: number): string {
  return value.toLocaleString('en-US')
}

function fail(reason: string): never {
  console.error(reason)
  process.exit(1)
}
