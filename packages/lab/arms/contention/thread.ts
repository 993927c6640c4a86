/** One of the threads: does its share of the tasks, then says so. */
import { parentPort, workerData } from 'node:worker_threads'
import { wayOf, type Order } from './ways.ts'

const count = wayOf(workerData as string)

parentPort?.on('message', ({ memory, increments, tasks, shards, index, threads }: Order) => {
  const cells = new Int32Array(memory)
  const share = Math.floor(increments / tasks)
  for (let task = index; task < tasks; task += threads)
    count(cells, task % shards, share + (task < increments % tasks ? 1 : 0))
  parentPort?.postMessage('done')
})
