import { checkHeader } from './answer-header.ts'
import type { Context, Fail, Log, Metadata, Trace } from './context.ts'
import { deadlines, type Expiring } from './deadlines.ts'
import { BusbarError } from './errors.ts'
import type { DeclaredErrors } from './errors.ts'

/** Without rest parameters, which would make a list of its own for each call. */
export type Enter = <R>(
  call: LiveCall,
  run: (input: unknown, call: LiveCall, checked: boolean) => R,
  input: unknown,
  checked: boolean,
) => R

/** What all calls of one method have in common. */
export interface CallSite {
  readonly service: string
  readonly method: string
  readonly log: Log
  readonly fail: Fail<DeclaredErrors>
  /** Runs the service's code in a context of its own; undefined where there are no such contexts. */
  readonly enter: Enter | undefined
  /** The calls that can be ended: those that are watched, or made a signal. A service that stops ends them. */
  readonly endable: Set<LiveCall>
}

/** From where a call comes, and what it inherits or was told. */
export interface CallOrigin {
  /** The call that causes it: it gives it its deadline and its trace, and its end is the end of both. */
  readonly parent?: LiveCall | undefined
  readonly caller?: string | undefined
  readonly trace?: Trace | undefined
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly metadata?: Metadata | undefined
  /** Among calls that wait for a service with a limit; the higher, the sooner, 0 without it. */
  readonly priority?: number | undefined
  /** How many calls led to it; 0 for what comes from outside. */
  readonly hops?: number | undefined
  /** Somebody may end it by {@link LiveCall.end}: its answer is not waited for then. */
  readonly mayAbort?: boolean | undefined
}

type EndListener = (reason: BusbarError) => void

const noMetadata: Metadata = Object.freeze({})

/**
 * A call in flight: the context that its method sees, and what ends it early. Nothing is made before it is asked for: an
 * AbortController costs 67 ns and most methods never look at it.
 */
export class LiveCall implements Context, Expiring {
  readonly site: CallSite
  previous: Expiring | undefined = undefined
  next: Expiring | undefined = undefined
  slot = -1
  /** Whether anything but its answer can end it. */
  readonly endsEarly: boolean
  /** Of the answer, where somebody set some. */
  headers: Record<string, string> | undefined = undefined
  private readonly origin: CallOrigin
  private readonly parent: LiveCall | undefined
  /** Undefined rather than Infinity: V8 boxes a fraction in each object, and most calls have no limit. */
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
    this.parent = parent?.endsEarly === true ? parent : undefined
    this.limit = timeout === undefined ? parent?.limit : earlier(parent?.limit, timeout)
    this.endsEarly =
      this.limit !== undefined || this.parent !== undefined || origin.signal !== undefined || origin.mayAbort === true
  }

  get caller(): string | undefined {
    return this.origin.caller
  }

  get metadata(): Metadata {
    const { metadata } = this.origin
    return metadata === undefined ? noMetadata : lowerCased(metadata)
  }

  get trace(): Trace | undefined {
    return this.origin.trace ?? this.origin.parent?.trace
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
      else if (!this.settled) this.site.endable.add(this)
      if (this.answer !== undefined) this.settleWith(this.answer)
    }
    return this.controller.signal
  }

  /** Read off the context by destructuring, so it has no `this`. */
  get setHeader(): (name: string, value: string) => void {
    return (name, value) => {
      ;(this.headers ??= {})[checkHeader(name, value)] = value
    }
  }

  get hasEnded(): BusbarError | undefined {
    return this.ended
  }

  /** Begins to watch what may end it early. `onEnd` may be told before this returns. */
  watch(onEnd: EndListener): void {
    this.expect(onEnd)
    this.wait()
  }

  /** `onEnd` is told what ends it: at once where something has already, what comes later only after {@link wait}. */
  expect(onEnd: EndListener): void {
    this.onEnd = onEnd
    if (this.isGivenUp) this.end(this.parent?.ended ?? abortedBy(this))
    else if (this.limit !== undefined && isOver(this.origin.timeout)) this.expire()
  }

  /** Its answer takes time: from now on it ends with whatever may end it. One that is answered at once spares this. */
  wait(): void {
    if (this.isWatched || this.ended !== undefined || this.settled) return
    if (this.isGivenUp) return this.end(this.parent?.ended ?? abortedBy(this))
    this.isWatched = true
    this.site.endable.add(this)
    if (this.limit !== undefined) deadlines.add(this)
    this.origin.signal?.addEventListener('abort', this)
    if (this.parent !== undefined) (this.parent.children ??= new Set()).add(this)
  }

  private get isGivenUp(): boolean {
    return this.origin.signal?.aborted === true || this.parent?.ended !== undefined
  }

  /** Of a call that is not watched: when it is answered, and made a signal, that ends by nothing any more. */
  answeredBy(answer: Promise<unknown>): void {
    this.answer = answer
    if (this.controller !== undefined) this.settleWith(answer)
  }

  /** Ends it for a caller who is gone. After the answer that is nothing, and most connections end then. */
  abandon(): void {
    if (this.ended === undefined && !this.settled) this.end(abortedBy(this))
  }

  /** The answer is there: nothing ends it any more. False where something has. */
  settle(): boolean {
    if (this.ended !== undefined) return false
    this.release()
    this.onEnd = undefined
    this.settled = true
    return true
  }

  /** Ends it before its answer, and every call that it caused. */
  end(reason: BusbarError): void {
    if (this.ended !== undefined || this.settled) return
    this.ended = reason
    this.release()
    if (this.controller !== undefined) this.abortWith(this.controller, reason)
    for (const child of this.children ?? []) child.end(childReason(child, reason))
    this.onEnd?.(reason)
  }

  expire(): void {
    this.end(
      new BusbarError('DEADLINE_EXCEEDED', {
        message: `${nameOf(this)} had not answered in time`,
        service: this.service,
      }),
    )
  }

  /** Listens to the caller's signal itself, which spares a closure. */
  handleEvent(): void {
    this.end(abortedBy(this))
  }

  /** Its listeners are the service's, and whoever ends the call is not. */
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
    if (this.isWatched || this.controller !== undefined) this.site.endable.delete(this)
    if (!this.isWatched) return
    if (this.limit !== undefined) deadlines.remove(this)
    this.origin.signal?.removeEventListener('abort', this)
    this.parent?.children?.delete(this)
  }
}

/** `Infinity` is a limit that nobody meets. */
function earlier(limit: number | undefined, timeout: number): number | undefined {
  if (timeout === Infinity) return limit
  return Math.min(limit ?? Infinity, performance.now() + (isOver(timeout) ? 0 : timeout))
}

/** Also where it is no number: never is that no limit. */
export function isOver(timeout: number | undefined): boolean {
  return timeout !== undefined && !(timeout > 0)
}

/** As headers are: then it does not matter which way the call came. Those of a request are so already. */
function lowerCased(metadata: Metadata): Metadata {
  for (const name in metadata)
    if (name !== name.toLowerCase())
      return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key.toLowerCase(), value]))
  return metadata
}

export function abortedBy(call: { readonly service: string; readonly method: string }): BusbarError {
  return new BusbarError('CALL_ABORTED', { message: `the caller of ${nameOf(call)} gave up`, service: call.service })
}

/** In the words of the call that it ends. */
function childReason(child: LiveCall, { code, message }: BusbarError): BusbarError {
  return new BusbarError(code, { message: `${nameOf(child)}: ${message}`, service: child.service })
}

export function nameOf({ service, method }: { service: string; method: string }): string {
  return `${service}.${method}`
}
