/** Does its share of the tasks on each message. */
import { parentPort, workerData } from 'node:worker_threads'
import { counters } from './counters.ts'

export interface Work {
  readonly counter: string
  readonly shards: number
  readonly iterations: number
  readonly tasks: readonly number[]
}

const { counter, shards, iterations, tasks } = workerData as Work
const count = counters[counter]!.prepare(shards)
parentPort!.once('message', () => {
  for (const task of tasks) count(task, iterations)
  parentPort!.postMessage('done')
})
parentPort!.postMessage('prepared')
