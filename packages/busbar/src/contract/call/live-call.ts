import { checkHeader } from '../header-syntax.ts'
import type { Context, Fail, Log, Metadata, QueueDelivery, Trace } from '../context.ts'
import { fieldsOf } from '../context.ts'
import { deadlines, type Expiring } from './deadlines.ts'
import { abortedBy, childReason, expired } from './end-reasons.ts'
import type { BusbarError, DeclaredErrors } from '../errors.ts'

/**
 * Runs the service's code in an async context of the call. Fixed parameters instead of rest
 * parameters: those would allocate an array per call.
 */
export type Enter = <R>(
  call: LiveCall,
  run: (input: unknown, call: LiveCall, checked: boolean) => R,
  input: unknown,
  checked: boolean,
) => R

/** What all calls of one method share. */
export interface CallSite {
  readonly service: string
  readonly method: string
  readonly log: Log
  readonly fail: Fail<DeclaredErrors>
  /** Runs the service's code in its own async context; undefined where there are none. */
  readonly enter: Enter | undefined
  /** Watched calls, and those with a signal. A stopping service cancels them. */
  readonly cancellable: Set<LiveCall>
}

/** The origin of a call: who made it, and what it inherits. */
export interface CallOrigin {
  /** The call that makes this one. Passes on its deadline, its trace and its end. */
  readonly parent?: LiveCall | undefined
  readonly caller?: string | undefined
  readonly trace?: Trace | undefined
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly metadata?: Metadata | undefined
  /** Order among calls that wait for a concurrency limit: higher first. Default: 0. */
  readonly priority?: number | undefined
  /** How many calls precede it in the chain; 0 for a call from outside. */
  readonly hops?: number | undefined
  /** The item of the queue that it runs. */
  readonly delivery?: QueueDelivery | undefined
  /** The caller may end it by {@link LiveCall.end}, without waiting for the answer. */
  readonly mayAbort?: boolean | undefined
}

type EndListener = (reason: BusbarError) => void

const noMetadata: Metadata = Object.freeze({})

/**
 * A call in flight: the context that its method sees, and what can end it early. Everything is
 * created on demand: an AbortController costs 67 ns, and most methods never use it.
 */
export class LiveCall implements Context, Expiring {
  readonly site: CallSite
  previous: Expiring | undefined = undefined
  next: Expiring | undefined = undefined
  bucket = -1
  /** False if only its answer can end it: such calls skip the set-up for cancelling. */
  readonly canEndEarly: boolean
  /** Headers of the answer, if the method has set any. */
  headers: Record<string, string> | undefined = undefined
  private readonly origin: CallOrigin
  private readonly parent: LiveCall | undefined
  /** `undefined`, not `Infinity`: V8 boxes doubles, and most calls have no deadline. */
  private readonly limit: number | undefined
  private controller: AbortController | undefined = undefined
  private ended: BusbarError | undefined = undefined
  private settled = false
  private isWatched = false
  private onEnd: EndListener | undefined = undefined
  private children: Set<LiveCall> | undefined = undefined
  private answer: Promise<unknown> | undefined = undefined

  constructor(site: CallSite, origin: CallOrigin) {
    const { parent, timeout } = origin
    this.site = site
    this.origin = origin
    this.parent = parent?.canEndEarly === true ? parent : undefined
    this.limit = timeout === undefined ? parent?.limit : earliest(parent?.limit, timeout)
    this.canEndEarly =
      this.limit !== undefined || this.parent !== undefined || origin.signal !== undefined || origin.mayAbort === true
  }

  get caller(): string | undefined {
    return this.origin.caller
  }

  get metadata(): Metadata {
    const { metadata } = this.origin
    return metadata === undefined ? noMetadata : lowerCased(metadata)
  }

  get delivery(): QueueDelivery | undefined {
    return this.origin.delivery
  }

  get trace(): Trace | undefined {
    return this.cause && fieldsOf(this.cause)
  }

  /** The same for the mesh, whose own contexts make their text only when it is read. */
  get cause(): Trace | undefined {
    return this.origin.trace ?? this.origin.parent?.cause
  }

  get hops(): number {
    return this.origin.hops ?? 0
  }

  get deadline(): number {
    return this.limit ?? Infinity
  }

  get service(): string {
    return this.site.service
  }

  get method(): string {
    return this.site.method
  }

  get log(): Log {
    return this.site.log
  }

  get fail(): Fail<DeclaredErrors> {
    return this.site.fail
  }

  get timeLeft(): number {
    return this.limit === undefined ? Infinity : Math.max(0, this.limit - performance.now())
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.ended !== undefined) this.controller.abort(this.ended)
      else if (!this.settled) this.site.cancellable.add(this)
      if (this.answer !== undefined) this.settleWith(this.answer)
    }
    return this.controller.signal
  }

  /** Methods destructure the context, so this is a closure without `this`. */
  get setHeader(): (name: string, value: string) => void {
    return (name, value) => {
      ;(this.headers ??= {})[checkHeader(name, value)] = value
    }
  }

  get endReason(): BusbarError | undefined {
    return this.ended
  }

  /**
   * Registers `onEnd` and starts watching for an early end. `onEnd` may run before this returns.
   */
  watch(onEnd: EndListener): void {
    this.listen(onEnd)
    this.arm()
  }

  /**
   * Registers `onEnd`. It runs at once if the call has already ended; later ends are only seen
   * after {@link arm}.
   */
  listen(onEnd: EndListener): void {
    this.onEnd = onEnd
    if (!this.isGivenUp() && isOver(this.origin.timeout)) this.expire()
  }

  /** Starts watching for an early end. A call that is answered synchronously never needs this. */
  arm(): void {
    if (this.isWatched || this.ended !== undefined || this.settled) return
    if (this.isGivenUp()) return
    this.isWatched = true
    this.site.cancellable.add(this)
    if (this.limit !== undefined) deadlines.add(this)
    this.origin.signal?.addEventListener('abort', this)
    if (this.parent !== undefined) (this.parent.children ??= new Set()).add(this)
  }

  /** Whether its parent or its caller has ended it before it began to watch; ends it, if so. */
  private isGivenUp(): boolean {
    const isOver = this.origin.signal?.aborted === true || this.parent?.ended !== undefined
    if (isOver) this.handleEvent()
    return isOver
  }

  /** For an unwatched call: settles it with `answer`, so its signal never aborts later. */
  answeredBy(answer: Promise<unknown>): void {
    this.answer = answer
    if (this.controller !== undefined) this.settleWith(answer)
  }

  /**
   * Cancels the call because its caller has disconnected. After the answer this does nothing: most
   * connections close then.
   */
  abandon(): void {
    if (this.ended === undefined && !this.settled) this.end(abortedBy(this))
  }

  /** Marks the call as answered; nothing can end it any more. False if it has already ended. */
  settle(): boolean {
    if (this.ended !== undefined) return false
    this.release()
    this.onEnd = undefined
    this.settled = true
    return true
  }

  /** Ends it before its answer, with all calls that it caused. */
  end(reason: BusbarError): void {
    if (this.ended !== undefined || this.settled) return
    this.ended = reason
    this.release()
    if (this.controller !== undefined) this.abortWith(this.controller, reason)
    for (const child of this.children ?? []) child.end(childReason(child, reason))
    this.onEnd?.(reason)
  }

  expire(): void {
    this.end(expired(this))
  }

  /**
   * The `EventListener` of the caller's signal, which saves a closure. If a deadline has aborted
   * the signal, such as that of the call that makes this one, it is the end of this call, too.
   */
  handleEvent(): void {
    const reason = this.origin.signal?.reason as Partial<BusbarError> | undefined
    const why = reason?.code === 'DEADLINE_EXCEEDED' ? expired : abortedBy
    this.end(this.parent?.ended ?? why(this))
  }

  /**
   * The signal's listeners belong to the service, so they run in its context, not in that of the
   * code that ends the call.
   */
  private abortWith(controller: AbortController, reason: BusbarError): void {
    const { enter } = this.site
    if (enter === undefined) controller.abort(reason)
    else enter(this, () => controller.abort(reason), undefined, false)
  }

  private settleWith(answer: Promise<unknown>): void {
    const settle = (): void => void this.settle()
    answer.then(settle, settle)
  }

  private release(): void {
    if (this.isWatched || this.controller !== undefined) this.site.cancellable.delete(this)
    if (!this.isWatched) return
    if (this.limit !== undefined) deadlines.remove(this)
    this.origin.signal?.removeEventListener('abort', this)
    this.parent?.children?.delete(this)
  }
}

/** `Infinity` means no limit. */
function earliest(limit: number | undefined, timeout: number): number | undefined {
  if (timeout === Infinity) return limit
  return Math.min(limit ?? Infinity, performance.now() + (isOver(timeout) ? 0 : timeout))
}

/** Also true for NaN, so that an invalid number is never taken for "no limit". */
export function isOver(timeout: number | undefined): boolean {
  return timeout !== undefined && !(timeout > 0)
}

/**
 * Lower-cases names as HTTP does, so metadata is the same over every transport. Those of a request
 * already are.
 */
function lowerCased(metadata: Metadata): Metadata {
  for (const name in metadata)
    if (name !== name.toLowerCase())
      return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key.toLowerCase(), value]))
  return metadata
}
