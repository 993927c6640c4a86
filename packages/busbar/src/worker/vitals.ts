import { readlinkSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Vitals, WorkerCells } from '../shared/cells.ts'
import { thisThread } from '../shared/this-thread.ts'

// Programs may put their own in the place of these.
const rss = process.memoryUsage.rss.bind(process)
const cpuUsage = thisThread.isMain ? process.cpuUsage.bind(process) : process.threadCpuUsage.bind(process)

/** Tells at each call what became of this worker since the one before: of a thread what is its own, of a process all. */
export function createVitals(): () => Vitals {
  let last = performance.eventLoopUtilization()
  let lastRss = 0
  const ownMemory = (): number => (lastRss = rssOr(lastRss))
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    const { user, system } = cpuUsage()
    const { used_heap_size: heapUsed, total_physical_size: heap, external_memory: external } = getHeapStatistics()
    const memory = thisThread.isMain ? ownMemory() : heap + external
    return { utilization, heapUsed, memory, cpu: (user + system) / 1000 }
  }
}

/** Node reads it from a file, for which there may be no descriptor. */
function rssOr(last: number): number {
  try {
    return rss()
  } catch {
    return last
  }
}

/** Lets others read this thread's processor time while it is blocked. Only Linux says it by thread. */
export function nameThread(cells: WorkerCells): void {
  try {
    cells.threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    // Then what it says of itself has to do.
  }
}
