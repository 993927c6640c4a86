/** Links in one thread, and both sides of a call as promises, for tests. */
import type { ErrorRecord } from '../../src/contract/errors.ts'
import type { Answerer, CallHead, Channel, ChannelHandler, Link } from '../../src/mesh/links/link.ts'
import { createLink, type LinkOptions } from '../../src/mesh/links/live-link.ts'
import { type Way, memory } from './pipes.ts'

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

/** `other` answers, as worker 2; `one` calls, as worker 1, and answers nothing unless told to. */
export async function linked(
  answer: Answerer,
  options: Partial<LinkOptions> & { readonly way?: Way } = {},
): Promise<Pair> {
  const { way = memory, ...rest } = options
  const [near, far] = await way.pipes()
  const one = createLink(near, { peer: 2, answer: refuse, ...rest })
  const other = createLink(far, { peer: 1, ...rest, answer })
  return { one, other, [Symbol.dispose]: () => one.close({ code: 'CALL_ABORTED', message: 'the test is over' }) }
}

export const refuse: Answerer = (_head, _payload, _ended, channel) => {
  channel.fail({ code: 'SERVICE_UNAVAILABLE', message: 'this side answers nothing' })
  return {}
}

/** Answers with what it got. */
export const echo: Answerer = (_head, payload, _ended, channel) => {
  channel.reply(payload, true)
  return {}
}

/** Never answers. */
export const hang: Answerer = () => ({})

/** What came of a call, in the order it came. */
export class Heard implements ChannelHandler {
  readonly events: unknown[] = []
  readonly #over = Promise.withResolvers<ErrorRecord | undefined>()
  readonly #waiting = new Map<number, () => void>()
  readonly values: unknown[] = []
  untouched: boolean | undefined

  /** The error it ended with, or undefined. */
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

  onError(error: ErrorRecord, untouched: boolean): void {
    this.untouched = untouched
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

  /** Resolves when so many events have come. */
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

/** A callee whose calls a test speaks for. */
export class Callee {
  readonly calls: {
    readonly head: CallHead
    readonly payload: unknown
    readonly channel: Channel
    readonly heard: Heard
  }[] = []
  #waiting: (() => void) | undefined

  readonly answer: Answerer = (of, payload, _ended, channel) => {
    const heard = new Heard()
    this.calls.push({ head: of, payload, channel, heard })
    this.#waiting?.()
    return heard
  }

  async call(at = 0): Promise<Callee['calls'][number]> {
    while (this.calls[at] === undefined) await new Promise<void>((resolve) => (this.#waiting = resolve))
    return this.calls[at]
  }
}
