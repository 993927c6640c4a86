import { frameTypes } from './frame-encoder.ts'

/** A run that may go on with the next frame. */
interface Run {
  readonly type: RunType
  /** The entries that all calls of the run have in common. '' for replies. */
  readonly head: string
  readonly first: number
  next: number
  values: string
}

/** What one frame says about many calls: `calls` or `replies`. */
type RunType = typeof frameTypes.calls | typeof frameTypes.replies

/**
 * Builds the text of one packet. Calls in a row that differ only in their values become one frame,
 * and so do their replies: what a frame has besides its value is a third of the bytes of a small
 * call, and of the time that `JSON.parse` takes for it.
 */
export class PacketText {
  #text = ''
  #run: Run | undefined

  get isEmpty(): boolean {
    return this.#text === '' && this.#run === undefined
  }

  add(frame: string): void {
    if (this.#run !== undefined) this.#closeRun(this.#run)
    this.#text += this.#text === '' ? `[${frame}` : `,${frame}`
  }

  /**
   * A call that sends no data, or a last reply, with a value without tags. Returns how many
   * characters it adds.
   */
  addToRun(type: RunType, id: number, head: string, value: string): number {
    const run = this.#run
    if (run !== undefined && run.type === type && run.next === id && run.head === head) {
      run.values += `,${value}`
      run.next += id < 0 ? -1 : 1
      return value.length + 1
    }
    if (run !== undefined) this.#closeRun(run)
    this.#run = { type, head, first: id, next: id < 0 ? id - 1 : id + 1, values: value }
    return value.length + head.length + runOverhead
  }

  /** The text of all that was added since the last call. */
  take(): string {
    if (this.#run !== undefined) this.#closeRun(this.#run)
    const text = `${this.#text}]`
    this.#text = ''
    return text
  }

  #closeRun({ type, head, first, next, values }: Run): void {
    this.#run = undefined
    const isOne = Math.abs(next - first) === 1
    if (type === frameTypes.calls)
      this.add(isOne ? `[1,${first},${head},1,${values}]` : `[14,${first},${head},[${values}]]`)
    else this.add(isOne ? `[2,${first},1,1,${values}]` : `[15,${first},[${values}]]`)
  }
}

/** About the characters of a frame besides its head and its values. */
const runOverhead = 16
