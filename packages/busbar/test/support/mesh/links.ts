/** Links within one thread, and promises for both sides of a call. */
import type { ErrorRecord } from '../../../src/contract/errors.ts'
import type { CallHandler, CallHead, Channel, ChannelHandler, Link, LinkOptions } from '../../../src/mesh/links/link.ts'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import { type Way, memory } from './transports.ts'

export const head: CallHead = {
  service: 'shop',
  kind: 'call',
  method: 'list',
  hops: 1,
  caller: undefined,
  timeLeft: undefined,
  trace: undefined,
  metadata: undefined,
}

export interface Pair extends Disposable {
  readonly one: Link
  readonly other: Link
}

/** `other` is worker 2 and answers. `one` is worker 1 and calls; it refuses calls by default. */
export async function linked(
  answer: CallHandler,
  options: Partial<LinkOptions> & { readonly way?: Way } = {},
): Promise<Pair> {
  const { way = memory, ...rest } = options
  const [near, far] = await way.connect()
  const one = createLink(near, { peer: 2, answer: refuse, ...rest })
  const other = createLink(far, { peer: 1, ...rest, answer })
  return { one, other, [Symbol.dispose]: () => one.close({ code: 'CALL_ABORTED', message: 'the test is over' }) }
}

export const refuse: CallHandler = (_head, _payload, _ended, channel) => {
  channel.fail({ code: 'SERVICE_UNAVAILABLE', message: 'this side accepts no calls' })
  return {}
}

/** Replies with the payload. */
export const echo: CallHandler = (_head, payload, _ended, channel) => {
  channel.reply(payload, true)
  return {}
}

/** Never answers. */
export const hang: CallHandler = () => ({})

/** Records the events of a call, in order. */
export class CallRecorder implements ChannelHandler {
  readonly events: unknown[] = []
  readonly #over = Promise.withResolvers<ErrorRecord | undefined>()
  readonly #waiting = new Map<number, () => void>()
  readonly values: unknown[] = []
  notStarted: boolean | undefined

  /** The error that ended the call, or undefined. */
  get over(): Promise<ErrorRecord | undefined> {
    return this.#over.promise
  }

  onReply(value: unknown, last: boolean): void {
    this.#note(['reply', value])
    if (last) this.#over.resolve(undefined)
  }

  onData(value: unknown): void {
    this.values.push(value)
    this.#note(['data', value])
  }

  onEnd(value: unknown): void {
    this.#note(['end', value])
    this.#over.resolve(undefined)
  }

  onError(error: ErrorRecord, notStarted: boolean): void {
    this.notStarted = notStarted
    this.#note(['error', error.code])
    this.#over.resolve(error)
  }

  onCancel(reason: ErrorRecord): void {
    this.#note(['cancel', reason.code])
    this.#over.resolve(reason)
  }

  onDrain(): void {
    this.#note(['drain'])
  }

  /** Resolves after so many events. */
  async until(count: number): Promise<void> {
    if (this.events.length >= count) return
    await new Promise<void>((resolve) => this.#waiting.set(count, resolve))
  }

  #note(event: unknown): void {
    this.events.push(event)
    this.#waiting.get(this.events.length)?.()
  }
}

/** The answer to a single call. */
export async function ask(link: Link, payload: unknown, of: Partial<CallHead> = {}): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  link.open({ ...head, ...of }, payload, true, { onReply: resolve, onError: (error) => reject(failure(error)) })
  return await promise
}

export function failure(error: ErrorRecord): Error {
  return Object.assign(new Error(error.message), error)
}

/** A callee whose calls the test answers. */
export class Callee {
  readonly calls: {
    readonly head: CallHead
    readonly payload: unknown
    readonly channel: Channel
    readonly recorder: CallRecorder
  }[] = []
  #waiting: (() => void) | undefined

  readonly answer: CallHandler = (of, payload, _ended, channel) => {
    const recorder = new CallRecorder()
    this.calls.push({ head: of, payload, channel, recorder })
    this.#waiting?.()
    return recorder
  }

  async call(at = 0): Promise<Callee['calls'][number]> {
    while (this.calls[at] === undefined) await new Promise<void>((resolve) => (this.#waiting = resolve))
    return this.calls[at]
  }
}
