import { readlinkSync } from 'node:fs'
import { performance, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Vitals, WorkerCells } from '../../shared/metrics/worker-cells.ts'
import { thisThread } from '../../shared/process/this-thread.ts'

// Programs may replace these.
const rss = process.memoryUsage.rss.bind(process)
const cpuUsage = thisThread.isMain ? process.cpuUsage.bind(process) : process.threadCpuUsage.bind(process)

/**
 * Returns a function that reads this worker's vitals since its last call: of the thread alone, or
 * of the whole process.
 */
export function createVitalsReader(): () => Omit<Vitals, 'delay'> {
  let last = performance.eventLoopUtilization()
  let lastRss = 0
  let gc = 0
  new PerformanceObserver((entries) => {
    for (const { duration } of entries.getEntries()) gc += duration
  }).observe({ entryTypes: ['gc'] })
  const processMemory = (): number => (lastRss = rssOr(lastRss))
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    const { user, system } = cpuUsage()
    const { used_heap_size: heapUsed, total_physical_size: heap, external_memory: external } = getHeapStatistics()
    const memory = thisThread.isMain ? processMemory() : heap + external
    return { utilization, heapUsed, memory, cpu: (user + system) / 1000, gc }
  }
}

/** Returns `last` if no descriptor is free: Node reads the value from a file. */
function rssOr(last: number): number {
  try {
    return rss()
  } catch {
    return last
  }
}

/** Lets other threads read this thread's CPU time while it is blocked. Linux only. */
export function recordThreadId(cells: WorkerCells): void {
  try {
    cells.threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    // Other systems use the CPU time that the thread reports itself.
  }
}
