/** The output of one worker. */
export interface OutputSource {
  /** Reads one chunk. Returns true if more is waiting. */
  read(): boolean
}

/** Milliseconds of reading without a pause: the longest delay of this thread's other work. */
const slice = 4

/**
 * Reads the output of all workers in turns, for at most half of this thread's time. This thread
 * also accepts connections, and a service that floods its output would otherwise keep it busy.
 * Unread output is backpressure to its writer.
 */
export class OutputScheduler {
  readonly #waiting: OutputSource[] = []
  readonly #isBehind: () => boolean
  #timer: NodeJS.Timeout | undefined
  #reading = false
  #restUntil = -Infinity

  /** `isBehind`: true while the log has backpressure. */
  constructor(isBehind: () => boolean = () => false) {
    this.#isBehind = isBehind
  }

  /** The source has output to read. */
  ready(source: OutputSource): void {
    if (this.#waiting.includes(source)) return
    this.#waiting.push(source)
    if (this.#reading || this.#timer !== undefined) return
    const rest = this.#restUntil - performance.now()
    if (rest <= 0) this.#read()
    else this.#readAfter(rest)
  }

  #read(): void {
    if (this.#isBehind()) return this.#readAfter(slice)
    const began = performance.now()
    let now = began
    this.#reading = true
    while (now - began < slice) {
      const source = this.#waiting.shift()
      if (source === undefined) break
      if (source.read()) this.#waiting.push(source)
      now = performance.now()
    }
    this.#reading = false
    this.#restUntil = now + (now - began)
    if (this.#waiting.length > 0) this.#readAfter(now - began)
  }

  #readAfter(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#read()
    }, Math.ceil(milliseconds))
  }
}
