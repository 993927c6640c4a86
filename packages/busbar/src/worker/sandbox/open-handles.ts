import { AsyncResource, createHook, type AsyncHook } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import type { Meter } from '../../mesh/meter.ts'
import { currentScope } from '../../mesh/scope.ts'
import { waitType } from '../../shared/time/wait.ts'
import { showPromisedWork } from './promised-work.ts'

/** Tells by the resources of an async hook whether work in Node's other threads is under way. */
export interface WorkSigns {
  /** Undefined for a resource of another type. */
  readonly isAtWork: (type: string, resource: object) => boolean | undefined
  /** Why this Node does not show it. All such work then counts as open. */
  readonly fault: () => string | undefined
}

/** What belongs to a thread and tells of its services' work. */
export interface ThreadWork {
  readonly signs: WorkSigns
  /** Counts the calls of this thread. */
  readonly meter: Meter | undefined
}

/**
 * The handles that would keep one service's own process alive: timers, sockets, system requests and
 * calls to other services that were opened in its scope since this object was created. A program
 * that has none left and does not listen never will.
 *
 * It needs an async hook (without promises), so it exists only during a start and a stop.
 */
export class OpenHandles implements Disposable {
  readonly #open = new Map<number, Handle>()
  readonly #hook: AsyncHook
  readonly #promisedWork = showPromisedWork()
  readonly #service: string
  readonly #work: ThreadWork
  /** Work that may be done counted as open. */
  #fault: string | undefined
  /** Typed calls that were in flight before. They have no resource that a hook could see. */
  #earlierCalls: number

  constructor(service: string, work: ThreadWork) {
    this.#service = service
    this.#work = work
    this.#earlierCalls = this.#typedCalls
    // `trackPromises` (Node 24.12) is missing in the types. A promise alone keeps no process alive.
    const options: HookOptions = {
      trackPromises: false,
      init: (id, type, _trigger, resource) => {
        if (!inert.has(type) && currentScope()?.service === service) this.#open.set(id, { type, resource })
      },
      destroy: (id) => void this.#open.delete(id),
    }
    this.#hook = createHook(options).enable()
  }

  /** The types of the open handles, for messages: `Timeout`, `TCPWRAP`. */
  get types(): string[] {
    const types = [...this.#open.values()].filter((handle) => this.#keepsAlive(handle)).map(({ type }) => type)
    return [...new Set(this.#hasTypedCalls ? [...types, 'a call to a typed service'] : types)]
  }

  /** What Node did not show, so that finished work may have counted as open. */
  get warnings(): readonly string[] {
    if (this.#fault === undefined) return []
    return [`this Node does not show whether the start waits for node:crypto or node:zlib (${this.#fault})`]
  }

  get isEmpty(): boolean {
    for (const handle of this.#open.values()) if (this.#keepsAlive(handle)) return false
    return !this.#hasTypedCalls
  }

  #keepsAlive({ type, resource }: Handle): boolean {
    if (type === waitType) return true
    const { signs } = this.#work
    const atWork = signs.isAtWork(type, resource)
    if (atWork !== undefined) return atWork || (this.#fault ??= signs.fault()) !== undefined
    // Libraries create AsyncResources to carry a context. They are no handles of the event loop.
    return resource.hasRef?.() ?? !(resource instanceof AsyncResource)
  }

  get #hasTypedCalls(): boolean {
    this.#earlierCalls = Math.min(this.#earlierCalls, this.#typedCalls)
    return this.#typedCalls > this.#earlierCalls
  }

  get #typedCalls(): number {
    return this.#work.meter?.typedInFlightOf(this.#service) ?? 0
  }

  /**
   * Resolves when none has been open for some turns of the event loop, since work may go on from
   * one handle to the next, or when `signal` aborts.
   */
  async untilNone(signal: AbortSignal): Promise<void> {
    for (let turns = 0; turns < emptyTurns && !signal.aborted; turns = this.isEmpty ? turns + 1 : 0) {
      if (this.isEmpty) await turn()
      else await pause(signal)
    }
  }

  [Symbol.dispose](): void {
    this.#hook.disable()
    this.#promisedWork[Symbol.dispose]()
    this.#open.clear()
  }
}

interface Handle {
  readonly type: string
  readonly resource: { hasRef?: () => boolean }
}

type HookOptions = Parameters<typeof createHook>[0] & {
  trackPromises: boolean
  init: (id: number, type: string, trigger: number, resource: Handle['resource']) => void
}

const emptyTurns = 25

/** Types that do not keep a process alive and stay open until their owner is collected. */
const inert = new Set([
  'BLOBREADER',
  'DIRHANDLE',
  'DNSCHANNEL',
  'ELDHISTOGRAM',
  'FILEHANDLE',
  'HTTP2SESSION',
  'HTTP2STREAM',
  'HTTPCLIENTREQUEST',
  'HTTPINCOMINGMESSAGE',
  'INSPECTORJSBINDING',
  'JSSTREAM',
  'PROMISE',
  'STREAMPIPE',
  'TLSWRAP',
])

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 20)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
