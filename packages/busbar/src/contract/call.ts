import type { Context, Fail, Log, Metadata, Trace } from './context.ts'
import { deadlines, type Expiring } from './deadlines.ts'
import { BusbarError } from './errors.ts'
import type { DeclaredErrors } from './method.ts'

/** What all calls of one method have in common. */
export interface CallSite {
  readonly service: string
  readonly method: string
  readonly log: Log
  readonly fail: Fail<DeclaredErrors>
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
  readonly caller: string | undefined
  readonly metadata: Metadata
  readonly trace: Trace | undefined
  readonly deadline: number
  previous: Expiring | undefined = undefined
  next: Expiring | undefined = undefined
  slot = -1
  readonly site: CallSite
  readonly hops: number
  /** Of the answer, where somebody set some. */
  headers: Record<string, string> | undefined = undefined
  private readonly mayAbort: boolean
  private readonly parent: LiveCall | undefined
  private readonly outer: AbortSignal | undefined
  private controller: AbortController | undefined = undefined
  private ended: BusbarError | undefined = undefined
  private settled = false
  private onEnd: EndListener | undefined = undefined
  private children: Set<LiveCall> | undefined = undefined

  constructor(site: CallSite, origin: CallOrigin) {
    const { parent, timeout } = origin
    this.site = site
    this.caller = origin.caller
    this.metadata = origin.metadata === undefined ? noMetadata : lowerCased(origin.metadata)
    this.trace = origin.trace ?? parent?.trace
    this.hops = origin.hops ?? 0
    this.outer = origin.signal
    this.mayAbort = origin.mayAbort === true
    this.parent = parent?.endsEarly === true ? parent : undefined
    const inherited = parent?.deadline ?? Infinity
    this.deadline =
      timeout === undefined || !(timeout >= 0) ? inherited : Math.min(inherited, performance.now() + timeout)
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
    return this.deadline === Infinity ? Infinity : Math.max(0, this.deadline - performance.now())
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.ended === undefined) this.site.endable.add(this)
      else this.controller.abort(this.ended)
    }
    return this.controller.signal
  }

  /** Read off the context by destructuring, so it has no `this`. */
  get setHeader(): (name: string, value: string) => void {
    return (name, value) => {
      ;(this.headers ??= {})[name.toLowerCase()] = value
    }
  }

  /** Whether anything but its answer can end it. */
  get endsEarly(): boolean {
    return this.mayAbort || this.deadline !== Infinity || this.outer !== undefined || this.parent !== undefined
  }

  get hasEnded(): BusbarError | undefined {
    return this.ended
  }

  /** Begins to watch what may end it early. `onEnd` may be told before this returns. */
  watch(onEnd: EndListener): void {
    this.onEnd = onEnd
    this.site.endable.add(this)
    if (this.outer?.aborted === true || this.parent?.ended !== undefined)
      return this.end(this.parent?.ended ?? abortedBy(this))
    if (this.deadline !== Infinity) deadlines.add(this)
    this.outer?.addEventListener('abort', this)
    if (this.parent !== undefined) (this.parent.children ??= new Set()).add(this)
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
    this.controller?.abort(reason)
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

  private release(): void {
    if (this.deadline !== Infinity) deadlines.remove(this)
    this.outer?.removeEventListener('abort', this)
    this.parent?.children?.delete(this)
    if (this.onEnd !== undefined || this.controller !== undefined) this.site.endable.delete(this)
  }
}

/** As headers are: then it does not matter which way the call came. Those of a request are so already. */
function lowerCased(metadata: Metadata): Metadata {
  for (const name in metadata)
    if (name !== name.toLowerCase())
      return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key.toLowerCase(), value]))
  return metadata
}

export function abortedBy(call: LiveCall): BusbarError {
  return new BusbarError('CALL_ABORTED', { message: `the caller of ${nameOf(call)} gave up`, service: call.service })
}

/** In the words of the call that it ends. */
function childReason(child: LiveCall, { code, message }: BusbarError): BusbarError {
  return new BusbarError(code, { message: `${nameOf(child)}: ${message}`, service: child.service })
}

export function nameOf({ service, method }: { service: string; method: string }): string {
  return `${service}.${method}`
}
