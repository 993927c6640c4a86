/** Output of one worker that waits to be read. */
export interface OutputSource {
  /** Reads a little of it. True while more waits. */
  read(): boolean
}

/** Milliseconds that output is read in one go. What else this thread does waits so long at most. */
const slice = 4

/**
 * Reads the output of all workers in turns, for at most half of this thread's time. This thread also accepts connections, and
 * a service that floods its output would otherwise keep it busy. What is not read yet makes its writer wait.
 */
export class OutputScheduler {
  readonly #waiting: OutputSource[] = []
  readonly #isBehind: () => boolean
  #timer: NodeJS.Timeout | undefined
  #reading = false
  #restUntil = -Infinity

  /** `isBehind`: the log has enough to write as it is. */
  constructor(isBehind: () => boolean = () => false) {
    this.#isBehind = isBehind
  }

  /** There is something to read. */
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
