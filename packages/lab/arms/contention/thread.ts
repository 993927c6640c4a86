/** One of the threads: does its share of the tasks, then reports. */
import { parentPort, workerData } from 'node:worker_threads'
import { busbarCounterFor } from './busbar-counters.ts'
import { counterFor, type CountOrder } from './counters.ts'

const counter = workerData as string
const count = busbarCounterFor(counter)?.prepare() ?? counterFor(counter)

parentPort?.on('message', ({ memory, increments, tasks, shards, index, threads }: CountOrder) => {
  const cells = new Int32Array(memory)
  const share = Math.floor(increments / tasks)
  for (let task = index; task < tasks; task += threads)
    count(cells, task % shards, share + (task < increments % tasks ? 1 : 0))
  parentPort?.postMessage('done')
})
