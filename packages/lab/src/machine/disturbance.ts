import { readFile } from 'node:fs/promises'
import { ticksPerSecond } from './processes.ts'

/**
 * CPU time that was not available during a measurement, as shares of the time of all processors.
 */
export interface Disturbance {
  /** The hypervisor ran other guests. */
  readonly steal: number
  /** The CPU quota of this cgroup was used up (cgroup v2). */
  readonly throttled: number
  /** CPU seconds of all processes on the machine. */
  readonly busySeconds: number
  readonly seconds: number
}

interface Reading {
  at: number
  stolen: number
  idle: number
  total: number
  throttled: number
}

/** Starts a measurement. The returned function ends it. All values are 0 outside of Linux. */
export async function watchDisturbance(): Promise<() => Promise<Disturbance>> {
  const before = await read()
  return async () => {
    const after = await read()
    const total = after.total - before.total
    const seconds = (after.at - before.at) / 1000
    const stolen = after.stolen - before.stolen
    return {
      steal: total > 0 ? stolen / total : 0,
      throttled: seconds > 0 ? (after.throttled - before.throttled) / seconds : 0,
      busySeconds: Math.max(0, total - stolen - (after.idle - before.idle)) / ticksPerSecond,
      seconds,
    }
  }
}

async function read(): Promise<Reading> {
  const [stat, cpu] = await Promise.all([text('/proc/stat'), text('/sys/fs/cgroup/cpu.stat')])
  // user nice system idle iowait irq softirq steal; user includes guest time.
  const fields = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? '').split(' ').slice(0, 8).map(Number)
  return {
    at: performance.now(),
    stolen: fields[7] ?? 0,
    idle: (fields[3] ?? 0) + (fields[4] ?? 0),
    total: fields.reduce((sum, field) => sum + field, 0),
    throttled: Number(/^throttled_usec (\d+)$/m.exec(cpu)?.[1] ?? 0) / 1e6,
  }
}

function text(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
