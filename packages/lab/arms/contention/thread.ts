/** One of the threads: does its share of the tasks, then says so. */
import { parentPort, workerData } from 'node:worker_threads'
import { sharedWayOf } from './shared-ways.ts'
import { wayOf, type Order } from './ways.ts'

const way = workerData as string
const count = sharedWayOf(way)?.prepare() ?? wayOf(way)

parentPort?.on('message', ({ memory, increments, tasks, shards, index, threads }: Order) => {
  const cells = new Int32Array(memory)
  const share = Math.floor(increments / tasks)
  for (let task = index; task < tasks; task += threads)
    count(cells, task % shards, share + (task < increments % tasks ? 1 : 0))
  parentPort?.postMessage('done')
})
