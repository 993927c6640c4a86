import type { ErrorRecord } from '../../../contract/errors.ts'
import type { AnswerSizes } from './answer-sizes.ts'
import { type BeginWindow, BeginWindows } from './begin-windows.ts'
import type { CallHandler, CallHead, ChannelHandler } from '../link.ts'
import type { LiveChannel } from '../live-channel.ts'
import type { SendQueue } from '../send-queue.ts'

/** Calls without a window that are begun in one turn. Their answers show whether more should. */
const callsPerTurn = 16
/** Milliseconds after which some calls with large answers begin beside those that have begun. */
const widenInterval = 25

export interface WaitingCallsParts {
  readonly answer: CallHandler
  /** While it is full no call should begin. A drain of its link follows. */
  readonly sendQueue: SendQueue
  readonly answerSizes: AnswerSizes | undefined
  readonly isForeign: boolean
}

/**
 * Calls that are not begun, because their peer reads its answers slowly, or because too many of
 * their method were begun whose answers are large. They begin, in order, when less waits for the
 * peer. This cannot block it for ever: a peer reads its link whatever it waits for, everything but
 * calls is handled meanwhile, and calls wait only a moment for others of their method.
 */
export class WaitingCalls {
  readonly #answer: CallHandler
  readonly #sendQueue: SendQueue
  readonly #windows: BeginWindows | undefined
  /** In the order of their arrival. */
  readonly #calls = new Set<WaitingCall>()
  /** Of these, those without a window. */
  #withoutWindow = 0
  #isScheduled = false
  #isContinued = false
  #timer: NodeJS.Timeout | undefined

  constructor({ answer, sendQueue, answerSizes, isForeign }: WaitingCallsParts) {
    this.#answer = answer
    this.#sendQueue = sendQueue
    this.#windows = answerSizes && new BeginWindows(answerSizes, isForeign)
  }

  /** The call begins at once if it may. */
  beginOrAdd(head: CallHead, payload: unknown, ended: boolean, channel: LiveChannel): ChannelHandler {
    const window = this.#windows?.of(head)
    const isAfterOthers = window === undefined ? this.#withoutWindow > 0 : window.hasWaiting
    if (isAfterOthers || this.#sendQueue.isFull || window?.isClosed === true)
      return this.#add({ head, payload, ended, channel, window })
    channel.window = window
    window?.begins()
    return this.#answer(head, payload, ended, channel)
  }

  #add(parts: Omit<WaitingCallParts, 'onCancel'>): WaitingCall {
    const { window } = parts
    const call = new WaitingCall({ ...parts, onCancel: () => this.#remove(call) })
    this.#calls.add(call)
    if (window === undefined) this.#withoutWindow++
    else window.waits()
    // It may wait only for those before it.
    if (window === undefined) this.begin()
    else this.#await(window)
    return call
  }

  /** A call that has begun is answered. */
  answered(channel: LiveChannel, size: number): void {
    channel.window?.answered(size)
    this.left(channel)
  }

  /** A call that has begun is answered, or over. */
  left(channel: LiveChannel): void {
    const { window } = channel
    channel.window = undefined
    if (window?.ends() === true) this.begin()
  }

  /** Call it when less waits for the peer. */
  begin(): void {
    if (this.#isScheduled || this.#calls.size === 0 || this.#sendQueue.isFull) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#beginSome()
    })
  }

  #beginSome(): void {
    let left = callsPerTurn
    for (const call of this.#calls) {
      if (this.#sendQueue.isFull) return
      const { window } = call
      if (window === undefined ? left-- <= 0 : window.isClosed) {
        if (window !== undefined) this.#await(window)
        continue
      }
      this.#remove(call)
      call.begin(this.#answer)
    }
    if (this.#withoutWindow > 0) this.begin()
  }

  /** Until some of the calls that have begun are answered, or for a moment. */
  #await(window: BeginWindow): void {
    if (window.isUnknown) this.#continue()
    else this.#timer ??= setTimeout(this.#widen, widenInterval)
  }

  /** After all that methods do at once. */
  #continue(): void {
    if (this.#isContinued) return
    this.#isContinued = true
    queueMicrotask(() => process.nextTick(this.#reopenUnknown))
  }

  readonly #reopenUnknown = (): void => {
    this.#isContinued = false
    for (const window of this.#awaited) if (window.isUnknown) window.reopen()
    this.#beginSome()
  }

  readonly #widen = (): void => {
    this.#timer = undefined
    for (const window of this.#awaited) window.widen()
    this.#beginSome()
  }

  get #awaited(): Set<BeginWindow> {
    const windows = new Set<BeginWindow>()
    for (const { window } of this.#calls) if (window !== undefined) windows.add(window)
    return windows
  }

  #remove(call: WaitingCall): void {
    if (!this.#calls.delete(call)) return
    if (call.window === undefined) this.#withoutWindow--
    else call.window.waitsNoMore()
    if (this.#calls.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

interface WaitingCallParts {
  readonly head: CallHead
  readonly payload: unknown
  readonly ended: boolean
  readonly channel: LiveChannel
  readonly window: BeginWindow | undefined
  readonly onCancel: () => void
}

class WaitingCall implements ChannelHandler {
  readonly #parts: WaitingCallParts
  readonly #since = performance.now()
  /** What the caller has sent meanwhile. The link's window bounds it. */
  readonly #early: ((handler: ChannelHandler) => void)[] = []

  constructor(parts: WaitingCallParts) {
    this.#parts = parts
  }

  get window(): BeginWindow | undefined {
    return this.#parts.window
  }

  onData(value: unknown): void {
    this.#early.push((handler) => handler.onData?.(value))
  }

  onEnd(value: unknown): void {
    this.#early.push((handler) => handler.onEnd?.(value))
  }

  onCancel(): void {
    this.#parts.onCancel()
  }

  begin(answer: CallHandler): void {
    const { payload, ended, channel, window } = this.#parts
    const head = this.#headNow()
    if (head.timeLeft !== undefined && head.timeLeft <= 0) return channel.fail(tooLate(channel), true)
    channel.window = window
    window?.begins()
    channel.handler = answer(head, payload, ended, channel)
    for (const deliver of this.#early) if (!channel.isOver) deliver(channel.handler)
  }

  #headNow(): CallHead {
    const { head } = this.#parts
    if (head.timeLeft === undefined) return head
    return { ...head, timeLeft: head.timeLeft - Math.floor(performance.now() - this.#since) }
  }
}

function tooLate({ name, head: { service } }: LiveChannel): ErrorRecord {
  const message = `${name} was not begun in time: large answers to its caller wait, or are awaited`
  return { code: 'DEADLINE_EXCEEDED', message, service }
}
