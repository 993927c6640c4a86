import type { CallOrigin, LiveCall } from '../../contract/call.ts'
import { BusbarError, type ErrorRecord } from '../../contract/errors.ts'
import { toCallError } from '../../contract/host/failures.ts'
import type { HostedMethod } from '../../contract/host/hosted-method.ts'
import type { LiveStream } from '../../contract/host/live-stream.ts'
import type { Answerer, CallHead, Channel, ChannelHandler } from '../links/link.ts'
import { carry, type Carried } from '../links/value.ts'
import { reasonUnreachable } from '../refusals.ts'
import type { Router } from '../router.ts'
import { toWire } from './wire.ts'

export interface AnsweringMesh {
  readonly router: Router
  /** `edge`: schemas are not asked for calls of one service to another. */
  readonly validate: 'always' | 'edge'
}

/** Answers typed calls that come over a link, by the instance in this thread. */
export function answerCalls({ router, validate }: AnsweringMesh): Answerer {
  const checked = validate === 'always'
  return (head, payload, _isEnded, channel) => {
    try {
      const hosted = methodOf(router, head)
      const call = hosted.open(originOf(head))
      if (head.kind === 'stream')
        return new AnsweredStream(hosted, call, channel, hosted.stream(payload, call, checked))
      return new AnsweredCall(hosted, call, channel, hosted.answer(payload, call, checked))
    } catch (error) {
      channel.fail(toWire(BusbarError.from(error)), true)
      return {}
    }
  }
}

/**
 * What can end early costs more. Where the caller does not give up and nobody set a limit, only the link's end is left,
 * and then the method hears of it by its signal.
 */
function originOf({ caller, hops, trace, metadata, timeLeft, mayCancel, kind }: CallHead): CallOrigin {
  return { caller, hops, trace, metadata, timeout: timeLeft, mayAbort: mayCancel !== false || kind === 'stream' }
}

/** Throws what the caller is told. */
function methodOf(router: Router, { service, method, kind }: CallHead): HostedMethod {
  const endpoint = router.local(service)
  if (endpoint?.state !== 'serving' || endpoint.typed === undefined)
    throw new BusbarError('SERVICE_UNAVAILABLE', { message: reasonUnreachable(router, service), service })
  const hosted = endpoint.typed.method(method)
  if ((hosted.spec.kind === 'stream') === (kind === 'stream')) return hosted
  const message = `${service}.${method} is a ${hosted.spec.kind}, and is called as if it were none`
  throw new BusbarError('METHOD_UNKNOWN', { message, service, data: { nearest: [] } })
}

class AnsweredCall implements ChannelHandler {
  readonly #hosted: HostedMethod
  readonly #call: LiveCall
  readonly #channel: Channel

  constructor(hosted: HostedMethod, call: LiveCall, channel: Channel, answer: Promise<unknown>) {
    this.#hosted = hosted
    this.#call = call
    this.#channel = channel
    answer.then(this.#reply, this.#fail)
  }

  onCancel(reason: ErrorRecord): void {
    this.#call.end(BusbarError.fromRecord(reason))
  }

  readonly #reply = (value: unknown): void => {
    const carried = carryAnswer(value, this.#hosted)
    if (carried instanceof BusbarError) this.#fail(carried)
    else this.#channel.reply(carried, true)
  }

  readonly #fail = (error: BusbarError<string>): void => this.#channel.fail(toWire(error))
}

/** Makes values as long as the caller takes them: a window of them is under way at most. */
class AnsweredStream implements ChannelHandler {
  readonly #hosted: HostedMethod
  readonly #call: LiveCall
  readonly #channel: Channel
  readonly #stream: LiveStream
  #onDrain: (() => void) | undefined

  constructor(hosted: HostedMethod, call: LiveCall, channel: Channel, stream: LiveStream) {
    this.#hosted = hosted
    this.#call = call
    this.#channel = channel
    this.#stream = stream
    void this.#pump()
  }

  onDrain(): void {
    this.#onDrain?.()
  }

  onCancel(reason: ErrorRecord): void {
    this.#call.end(BusbarError.fromRecord(reason))
    void this.#stream.return()
    this.#onDrain?.()
  }

  /** Whoever has cancelled is told nothing: what is said through a channel that is over is dropped. */
  async #pump(): Promise<void> {
    try {
      for (let step = await this.#stream.next(); step.done !== true; step = await this.#stream.next()) {
        const carried = carryAnswer(step.value, this.#hosted)
        if (carried instanceof BusbarError) throw carried
        if (!this.#channel.data(carried)) await this.#drained()
      }
      this.#channel.end()
    } catch (error) {
      void this.#stream.return()
      // A stream of a host fails with nothing else.
      this.#channel.fail(toWire(error as BusbarError<string>))
    }
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => (this.#onDrain = resolve))
    this.#onDrain = undefined
  }
}

/** What a service answers with and no call carries is its fault, as in one thread. */
function carryAnswer(value: unknown, { site }: HostedMethod): Carried | BusbarError<string> {
  try {
    return carry(value)
  } catch (error) {
    return toCallError(error, site)
  }
}
