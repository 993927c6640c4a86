/** What the services of this app share. */
const texts = new Map<number, string>()

export function payload(bytes: number): string {
  let text = texts.get(bytes)
  if (text === undefined) texts.set(bytes, (text = 'x'.repeat(bytes)))
  return text
}

/** Microseconds, of this thread or of the whole process. */
export function cpuTime(isProcess: boolean): number {
  const { user, system } = isProcess ? process.cpuUsage() : process.threadCpuUsage()
  return user + system
}

/** What the caller answers about one way to call. */
export interface MeasuredCalls {
  /** Milliseconds of one call at a time. */
  readonly latency: number
  /** Microseconds of processor time per call, with several calls at a time. */
  readonly caller: number
  /** The same of the callee; if it shares the thread, `caller` includes it. */
  readonly callee: number
}
