import type { ErrorCode, ErrorRecord } from '../../contract/errors.ts'
import type { CallId } from '../../shared/calls/call-id.ts'
import type { CallHead, Channel, ChannelHandler, Link } from '../links/link.ts'

/** How the calls of a link end. */
export interface CallOutcomes {
  succeeded(): void
  failed(): void
}

/** Failures of what is behind the link. All others are answers: the service works. */
const faults: ReadonlySet<string> = new Set<ErrorCode>([
  'SERVICE_UNAVAILABLE',
  'SERVICE_HANGUP',
  'WORKER_DIED',
  'LINK_LOST',
])

/** A proxy, or the service itself, says that it does not work. */
const faultyStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** The unfinished calls of one service. */
interface Running {
  calls: number
}

/** A link that reports how each of its calls has ended. */
export class ObservedLink implements Link {
  readonly #link: Link
  readonly #outcomes: CallOutcomes
  /** Unfinished calls by service, for the balance. */
  readonly #running = new Map<string, Running>()

  constructor(link: Link, outcomes: CallOutcomes) {
    this.#link = link
    this.#outcomes = outcomes
  }

  get peer(): number {
    return this.#link.peer
  }

  get state(): Link['state'] {
    return this.#link.state
  }

  get inFlight(): number {
    return this.#link.inFlight
  }

  get answering(): number {
    return this.#link.answering
  }

  get isSilent(): boolean {
    return this.#link.isSilent
  }

  get closed(): Promise<ErrorRecord> {
    return this.#link.closed
  }

  get failure(): Promise<ErrorRecord> {
    return this.#link.failure
  }

  get onState(): (() => void) | undefined {
    return this.#link.onState
  }

  set onState(changed: (() => void) | undefined) {
    this.#link.onState = changed
  }

  loadOf(service: string): number {
    return this.#link.loadOf(service)
  }

  /** This side's unfinished calls of a service. */
  running(service: string): number {
    return this.#running.get(service)?.calls ?? 0
  }

  open(head: CallHead, payload: unknown, ended: boolean, handler: ChannelHandler): Channel {
    const running = this.#runningOf(head.service)
    running.calls++
    const call = new ObservedCall(this, running, head, handler)
    call.channel = this.#link.open(head, payload, ended, call)
    return call
  }

  /** A call has ended. */
  ended(isFault: boolean): void {
    if (!isFault) this.#outcomes.succeeded()
    else if (this.#link.state !== 'closed') this.#outcomes.failed()
  }

  #runningOf(service: string): Running {
    let running = this.#running.get(service)
    if (running === undefined) this.#running.set(service, (running = { calls: 0 }))
    return running
  }

  drain(): void {
    this.#link.drain()
  }

  leave(): Promise<void> {
    return this.#link.leave()
  }

  askToMove(): void {
    this.#link.askToMove()
  }

  acknowledged(): Promise<void> {
    return this.#link.acknowledged()
  }

  answersRead(): Promise<void> {
    return this.#link.answersRead()
  }

  close(reason: ErrorRecord): void {
    this.#link.close(reason)
  }
}

/** One call, from both sides. */
class ObservedCall implements Channel, ChannelHandler {
  channel: Channel | undefined
  readonly #link: ObservedLink
  readonly #running: Running
  readonly #head: CallHead
  readonly #handler: ChannelHandler
  #isOver = false
  #isFaulty = false
  /** A part of a stream has come. */
  #hasDelivered = false

  constructor(link: ObservedLink, running: Running, head: CallHead, handler: ChannelHandler) {
    this.#link = link
    this.#running = running
    this.#head = head
    this.#handler = handler
  }

  get call(): CallId {
    return this.channel!.call
  }

  // From the callee

  onReply(value: unknown, last: boolean): void {
    if (this.#head.kind === 'http' && Array.isArray(value)) this.#isFaulty = faultyStatuses.has(value[0])
    if (last) this.#end(this.#isFaulty)
    this.#handler.onReply?.(value, last)
  }

  onData(value: unknown): void {
    this.#hasDelivered = true
    this.#handler.onData?.(value)
  }

  onEnd(value: unknown): void {
    this.#end(this.#isFaulty)
    this.#handler.onEnd?.(value)
  }

  onError(error: ErrorRecord, notStarted: boolean): void {
    this.#end(faults.has(error.code))
    this.#handler.onError?.(error, notStarted)
  }

  onDrain(): void {
    this.#handler.onDrain?.()
  }

  // From the caller

  reply(value: unknown, last: boolean): void {
    this.channel!.reply(value, last)
  }

  data(value: unknown): boolean {
    return this.channel!.data(value)
  }

  end(value?: unknown): void {
    this.channel!.end(value)
  }

  fail(error: ErrorRecord, notStarted?: boolean): void {
    this.channel!.fail(error, notStarted)
  }

  /**
   * A caller that gives up for another reason than time says nothing about the service. Nor does
   * the deadline of a stream that delivers: many streams end only by it.
   */
  cancel(reason: ErrorRecord): void {
    this.channel!.cancel(reason)
    this.#end(reason.code === 'DEADLINE_EXCEEDED' && !this.#hasDelivered)
  }

  abandon(): void {
    this.channel!.abandon()
  }

  consumed(count: number): void {
    this.channel!.consumed(count)
  }

  #end(isFault: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#running.calls--
    this.#link.ended(isFault)
  }
}
