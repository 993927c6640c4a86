/** What Linux says of threads and processes, whether they turn or not; elsewhere what they say of themselves has to do. */
import { readFileSync } from 'node:fs'

/** Processor time of a thread of this process, in milliseconds, by the system's number of the thread. */
export function threadCpuTime(thread: number): number | undefined {
  const nanoseconds = Number(read(`/proc/self/task/${thread}/schedstat`)?.split(' ', 1)[0])
  return Number.isNaN(nanoseconds) ? undefined : nanoseconds / 1e6
}

/** The unit of times in `/proc/<pid>/stat` (USER_HZ), the same on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Processor time of a process, in milliseconds. */
export function processCpuTime(pid: number): number | undefined {
  // The name of the program is in brackets, and may hold anything.
  const fields = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ')
  if (fields === undefined) return undefined
  const [user, system] = [Number(fields[11]), Number(fields[12])]
  return ((user + system) * 1000) / ticksPerSecond
}

/** Bytes that a process has in memory. */
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
