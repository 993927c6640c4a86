/**
 * Preloaded into every thread of every measured Node program. Four times a second it appends to a
 * file what only the runtime knows. A sample costs about 25 µs, and the delay histogram one native
 * timer per 20 ms: together 0.3 % of a core in an idle thread. It neither keeps a program alive nor
 * makes it fail.
 *
 * It is preloaded by `--require`, since `--import` skips threads that run code from a string. It
 * imports nothing, and in a thread it starts only after one sample period: otherwise a program that
 * starts a thread per request would spend an eighth of its CPU time here.
 */
import type { Sample, ThreadHeader } from './samples.ts'

const period = 250
/** Resolution of the delay histogram in milliseconds. Recorded delays include it. */
const resolution = 20

const folder = process.env['BUSBAR_LAB_SAMPLES']
if (folder !== undefined) {
  if (process.getBuiltinModule('node:worker_threads').isMainThread) tryToSample(folder)
  else setTimeout(tryToSample, period, folder).unref()
}

/** A program without permission to write files, or without these functions, is not sampled. */
function tryToSample(folder: string): void {
  const { threadId } = process.getBuiltinModule('node:worker_threads')
  const { mkdirSync, openSync } = process.getBuiltinModule('node:fs')
  try {
    mkdirSync(folder, { recursive: true })
    const file = openSync(`${folder}/${process.pid}-${threadId}.jsonl`, 'a')
    writeLine(file, header(threadId))
    sampleInto(file)
  } catch {}
}

function header(thread: number): ThreadHeader {
  const { NODE_OPTIONS = '' } = process.env
  return {
    pid: process.pid,
    thread,
    version: process.version,
    flags: [...process.execArgv, NODE_OPTIONS].filter(Boolean),
  }
}

function sampleInto(file: number): void {
  const { monitorEventLoopDelay, performance, PerformanceObserver } = process.getBuiltinModule('node:perf_hooks')
  let collected = 0
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collected += duration
  })
  observer.observe({ entryTypes: ['gc'] })
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  let from = Date.now()
  let loop = performance.eventLoopUtilization()
  let cpu = process.threadCpuUsage()
  setInterval(() => {
    const loopNow = performance.eventLoopUtilization()
    const cpuNow = process.threadCpuUsage()
    const sample: Sample = {
      from,
      to: (from = Date.now()),
      utilisation: performance.eventLoopUtilization(loopNow, loop).utilization,
      delayP50: delayAt(delay.percentile(50)),
      delayP99: delayAt(delay.percentile(99)),
      delayMax: delayAt(delay.max),
      gc: collected,
      cpu: (cpuNow.user + cpuNow.system - cpu.user - cpu.system) / 1000,
      ...heap(),
    }
    writeLine(file, sample)
    delay.reset()
    collected = 0
    ;[loop, cpu] = [loopNow, cpuNow]
  }, period).unref()
}

function heap(): Pick<Sample, 'heapTotal' | 'heapUsed' | 'newSpace' | 'oldSpace' | 'external'> {
  const { getHeapSpaceStatistics, getHeapStatistics } = process.getBuiltinModule('node:v8')
  const { total_heap_size, used_heap_size, external_memory } = getHeapStatistics()
  const spaces = getHeapSpaceStatistics()
  const used = (names: readonly string[]) =>
    spaces.reduce((sum, space) => sum + (names.includes(space.space_name) ? space.space_used_size : 0), 0)
  return {
    heapTotal: total_heap_size,
    heapUsed: used_heap_size,
    newSpace: used(['new_space', 'new_large_object_space']),
    oldSpace: used(['old_space', 'large_object_space']),
    external: external_memory,
  }
}

/** 0 for an interval without a tick. */
function delayAt(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - resolution)
}

function writeLine(file: number, line: object): void {
  process.getBuiltinModule('node:fs').writeSync(file, `${JSON.stringify(line)}\n`)
}
