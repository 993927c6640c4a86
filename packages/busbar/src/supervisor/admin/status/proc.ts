/**
 * What Linux knows of threads and processes, even while they are blocked. Other systems have only
 * the workers' own reports.
 */
import { readFileSync } from 'node:fs'

/**
 * Processor time in milliseconds. `thread`: the operating system's ID of a thread of this process.
 */
export function threadCpuTime(thread: number): number | undefined {
  const nanoseconds = Number(read(`/proc/self/task/${thread}/schedstat`)?.split(' ', 1)[0])
  return Number.isNaN(nanoseconds) ? undefined : nanoseconds / 1e6
}

/** The unit of times in `/proc/<pid>/stat` (USER_HZ), the same on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Processor time in milliseconds. */
export function processCpuTime(pid: number): number | undefined {
  // The second field is the name in parentheses, which may contain anything.
  const fields = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ')
  if (fields === undefined) return undefined
  const [user, system] = [Number(fields[11]), Number(fields[12])]
  return ((user + system) * 1000) / ticksPerSecond
}

/** Resident memory in bytes. */
export function processMemory(pid: number): number | undefined {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1]
  return kib === undefined ? undefined : Number(kib) * 1024
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
