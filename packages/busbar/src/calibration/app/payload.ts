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
  readonly alone: ProcessorTime
  /** With {@link atATime} calls at a time. */
  readonly together: ProcessorTime
}

export const atATime = 4

/** Microseconds per call. */
export interface ProcessorTime {
  readonly caller: number
  /** If it shares the thread, `caller` includes it. */
  readonly callee: number
}
