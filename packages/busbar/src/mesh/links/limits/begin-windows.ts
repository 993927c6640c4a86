import type { AnswerSizes, MethodAnswers } from './answer-sizes.ts'
import type { CallHead } from '../link.ts'

/**
 * How many calls of a method may be begun on a link and not answered, as a stream is by its first
 * value: calls that arrive together would all begin before the first of their answers is counted.
 * It is as wide as a link may have calls if the method's answers are small.
 */
export class BeginWindow {
  readonly #answers: MethodAnswers
  /** Less than none: so many more may begin. */
  #begun = 0
  /** Calls that are not begun. */
  #waiting = 0
  /** A call has ended since it was widened last. */
  #isMoving = false
  /** Times in a row that it was widened and none ended. */
  #stuck = 0

  constructor(answers: MethodAnswers) {
    this.#answers = answers
  }

  get isClosed(): boolean {
    return this.#begun >= this.#answers.fitting
  }

  get hasWaiting(): boolean {
    return this.#waiting > 0
  }

  get isUnknown(): boolean {
    return !this.#answers.isKnown
  }

  waits(): void {
    this.#waiting++
  }

  waitsNoMore(): void {
    this.#waiting--
  }

  begins(): void {
    this.#begun++
  }

  answered(size: number): void {
    this.#answers.sent(size)
  }

  failed(size: number): void {
    this.#answers.sentError(size)
  }

  /** A call is over, answered or not. Returns whether others wait for that. */
  ends(): boolean {
    this.#isMoving = true
    if (this.#begun > 0) this.#begun--
    return this.hasWaiting
  }

  /** Others do not wait for the calls that have begun. */
  reopen(): void {
    this.#begun = 0
  }

  /**
   * As many as fit begin beside those that have begun: these may be slow, and answers of a method
   * differ in size. If none ends meanwhile, twice as many the next time.
   */
  widen(): void {
    this.#stuck = this.#isMoving ? 0 : this.#stuck + 1
    this.#isMoving = false
    this.#begun = this.#answers.fitting * (1 - 2 ** Math.max(0, this.#stuck - 1))
  }
}

/** The windows of one link. */
export class BeginWindows {
  readonly #sizes: AnswerSizes
  readonly #isForeign: boolean
  readonly #windows = new WeakMap<MethodAnswers, BeginWindow>()
  /** Of the last call. */
  #head: CallHead | undefined
  #window: BeginWindow | undefined

  /** `isForeign`: the peer belongs to another app. Workers of one app read all that they get. */
  constructor(sizes: AnswerSizes, isForeign: boolean) {
    this.#sizes = sizes
    this.#isForeign = isForeign
  }

  /**
   * Undefined if nothing limits the call: it is none of another app, or its answer comes in small
   * pieces.
   */
  of(head: CallHead): BeginWindow | undefined {
    // Calls in a row often have one head.
    if (head === this.#head) return this.#window
    const { kind, service, method, isForeign } = head
    const isTyped = kind === 'call' || kind === 'stream'
    const isLimited = isTyped && (this.#isForeign || isForeign === true)
    this.#head = head
    return (this.#window = isLimited ? this.#find(this.#sizes.of(service, method)) : undefined)
  }

  #find(answers: MethodAnswers): BeginWindow {
    let window = this.#windows.get(answers)
    if (window === undefined) this.#windows.set(answers, (window = new BeginWindow(answers)))
    return window
  }
}
