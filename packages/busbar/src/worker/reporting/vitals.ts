import { readlinkSync } from 'node:fs'
import { constants, performance, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import { gcBounds, type GcKind, gcKinds, type RuntimeStats } from '../../shared/metrics/runtime-cells.ts'
import type { Vitals, WorkerCells } from '../../shared/metrics/worker-cells.ts'
import { thisThread } from '../../shared/process/this-thread.ts'

// Programs may replace these.
const rss = process.memoryUsage.rss.bind(process)
const cpuUsage = thisThread.isMain ? process.cpuUsage.bind(process) : process.threadCpuUsage.bind(process)

const kindsOfNode = new Map<number, GcKind>([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
])

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } }

interface Reading {
  readonly vitals: Omit<Vitals, 'delay'>
  readonly runtime: Omit<RuntimeStats, 'delays'>
}

/**
 * Returns a function that reads this worker's vitals since its last call: of the thread alone, or
 * of the whole process.
 */
export function createVitalsReader(): () => Reading {
  let last = performance.eventLoopUtilization()
  let lastRss = 0
  let gc = 0
  const collections = gcKinds.map((kind) => ({ kind, sum: 0, counts: [...gcBounds, Infinity].map(() => 0) }))
  new PerformanceObserver((entries) => {
    for (const { duration, detail } of entries.getEntries() as GcEntry[]) {
      gc += duration
      const kind = kindsOfNode.get(detail.kind)
      const of = collections.find((one) => one.kind === kind)
      if (of === undefined) continue
      of.sum += duration
      const bucket = gcBounds.findIndex((bound) => duration <= bound)
      of.counts[bucket === -1 ? gcBounds.length : bucket]!++
    }
  }).observe({ entryTypes: ['gc'] })
  const processMemory = (): number => (lastRss = rssOr(lastRss))
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    const { user, system } = cpuUsage()
    const heap = getHeapStatistics()
    const { used_heap_size: heapUsed, external_memory: external } = heap
    const memory = thisThread.isMain ? processMemory() : heap.total_physical_size + external
    return {
      vitals: { utilization, heapUsed, memory, cpu: (user + system) / 1000, gc },
      runtime: {
        loopTime: { active: now.active, idle: now.idle },
        heap: { total: heap.total_heap_size, limit: heap.heap_size_limit, external },
        spaces: getHeapSpaceStatistics().map((space) => ({
          name: space.space_name,
          size: space.space_size,
          used: space.space_used_size,
          available: space.space_available_size,
          physical: space.physical_space_size,
        })),
        gc: collections,
      },
    }
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
