/** Does its part of the tasks when it is told to. */
import { parentPort, workerData } from 'node:worker_threads'
import { ways } from './ways.ts'

export interface Work {
  readonly way: string
  readonly shards: number
  readonly iterations: number
  readonly tasks: readonly number[]
}

const { way, shards, iterations, tasks } = workerData as Work
const count = ways[way]!.prepare(shards)
parentPort!.once('message', () => {
  for (const task of tasks) count(task, iterations)
  parentPort!.postMessage('done')
})
parentPort!.postMessage('prepared')
