import type { EncodedValue } from './encoded-value.ts'
import { frameTypes } from './frame-encoder.ts'
import { maxLeaves, maxNamed } from '../limits/limits.ts'
import { namesIn, shapeText } from './value-shape.ts'

/** A run that may go on with the next frame. */
interface Run {
  readonly type: RunType
  /** The entries that all calls of the run have in common. '' for replies. */
  readonly head: string
  readonly first: number
  /** Its first value. */
  readonly value: EncodedValue
  next: number
  /** The JSON of its values, if they have no shape in common. */
  values: string
  /** Else what they differ in. */
  leaves: unknown[] | undefined
  readonly maxLeaves: number
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
   * characters it adds, about.
   */
  addToRun(type: RunType, id: number, head: string, value: EncodedValue): number {
    const run = this.#run
    if (run?.type === type && run.next === id && run.head === head && isAlike(run, value))
      return continueRun(run, id, value)
    if (run !== undefined) this.#closeRun(run)
    const next = id < 0 ? id - 1 : id + 1
    const { flat } = value
    const leaves = flat && [...flat.leaves]
    const values = flat === undefined ? value.text! : ''
    const most = flat === undefined ? 0 : Math.min(maxLeaves, maxNamed / namesIn(flat.shape))
    this.#run = { type, head, first: id, value, next, values, leaves, maxLeaves: most }
    return (flat?.size ?? values.length) + head.length + runOverhead
  }

  /** The text of all that was added since the last call. */
  take(): string {
    if (this.#run !== undefined) this.#closeRun(this.#run)
    const text = `${this.#text}]`
    this.#text = ''
    return text
  }

  #closeRun({ type, head, first, next, value, values, leaves }: Run): void {
    this.#run = undefined
    const count = Math.abs(next - first)
    value.shaper?.ran(count)
    const start = type === frameTypes.calls ? `${first},${head}` : `${first}`
    if (count === 1)
      this.add(type === frameTypes.calls ? `[1,${start},1,${value.text}]` : `[2,${start},1,1,${value.text}]`)
    else if (leaves === undefined) this.add(`[${type},${start},[${values}]]`)
    else this.add(`[${type},${start},${JSON.stringify(leaves)},${shapeText(value.flat!.shape)}]`)
  }
}

/** Both have a shape, and the same one, for which there is room; or neither has. */
function isAlike({ value, leaves, maxLeaves: most }: Run, { flat }: EncodedValue): boolean {
  if (leaves === undefined || flat === undefined) return value.flat?.shape === flat?.shape
  return value.flat!.shape === flat.shape && leaves.length + flat.leaves.length <= most
}

function continueRun(run: Run, id: number, value: EncodedValue): number {
  run.next += id < 0 ? -1 : 1
  const { flat } = value
  if (run.leaves === undefined || flat === undefined) {
    run.values += `,${value.text}`
    return value.text!.length + 1
  }
  for (const leaf of flat.leaves) run.leaves.push(leaf)
  return flat.size
}

/** About the characters of a frame besides its head and its values. */
const runOverhead = 16
