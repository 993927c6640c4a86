import type { CallOrigin, LiveCall } from '../../contract/call/live-call.ts'
import type { Trace } from '../../contract/context.ts'
import { BusbarError, type ErrorRecord, restoreError } from '../../contract/errors.ts'
import { toCallError } from '../../contract/host/failures.ts'
import type { HostedMethod } from '../../contract/host/hosted-method.ts'
import type { CallSink } from '../../contract/host/sink-answer.ts'
import type { TypedHost } from '../../contract/host/typed-host.ts'
import type { HostedStream } from '../../contract/host/hosted-stream.ts'
import { contractOf, isSameContract } from '../../contract/method-contract.ts'
import { type EncodedValue, encodeValue } from '../links/frames/encoded-value.ts'
import type { CallHandler, CallHead, Channel, ChannelHandler } from '../links/link.ts'
import { Shaper } from '../links/frames/shaper.ts'
import type { Router } from '../routing/router.ts'
import { reasonUnreachable } from '../routing/unreachable.ts'
import type { TracedCall } from '../tracing/traced-call.ts'
import type { Tracer } from '../tracing/tracer.ts'
import { answerTo } from './direct-answer.ts'
import { toErrorRecord } from './error-records.ts'
import { InputQueue } from './input-queue.ts'
import type { TypedMesh } from './mesh-transport.ts'

/** Answers typed calls that arrive over a link, by the instance in this thread. */
export function answerTypedCalls({
  router,
  validate,
  tracer,
}: Pick<TypedMesh, 'router' | 'validate' | 'tracer'>): CallHandler {
  let last: KnownHead | undefined
  return (head, payload, isEnded, channel) => {
    const checked = validate === 'always' || head.isForeign === true
    try {
      const typed = hostOf(router, head)
      if (last === undefined || last.head !== head || last.typed !== typed)
        last = { head, typed, hosted: methodOf(typed, head), origin: originOf(head, head.trace) }
      const { hosted, origin } = last
      const edge = tracer && answerOf(tracer, head)
      edge?.arrivedBefore(channel.waited)
      const call = hosted.open(edge === undefined ? origin : originOf(head, edge))
      if (head.kind === 'stream') {
        const inputs = isEnded ? undefined : new InputQueue(channel)
        const stream = hosted.stream(inputs ?? payload, call, checked, edge)
        return new AnsweredStream({ hosted, call, channel, stream, inputs })
      }
      const answered = new AnsweredCall(hosted, call, channel)
      answerTo(answered, hosted, payload, call, checked, edge)
      return answered
    } catch (error) {
      channel.fail(toErrorRecord(BusbarError.from(error)), true)
      return {}
    }
  }
}

/** What all calls of one head have in common: a link repeats a head of many calls. */
interface KnownHead {
  readonly head: CallHead
  readonly typed: TypedHost
  readonly hosted: HostedMethod
  readonly origin: CallOrigin
}

/**
 * Calls that may end early cost more. Without a deadline and a caller that may cancel, only the end
 * of the link is left, and the method's signal reports that.
 */
function originOf(
  { caller, hops, metadata, timeLeft, mayCancel, kind, delivery }: CallHead,
  trace: Trace | undefined,
): CallOrigin {
  const mayAbort = mayCancel !== false || kind === 'stream'
  return { caller, hops, trace, metadata, delivery, timeout: timeLeft, mayAbort }
}

function answerOf(tracer: Tracer, { service, method, caller, trace }: CallHead): TracedCall {
  const kind = { part: 'answer', caller, service, protocol: 'rpc', method, transport: undefined } as const
  return tracer.call(kind, undefined, trace)
}

/** Throws the error for the caller. */
function hostOf(router: Router, { service }: CallHead): TypedHost {
  const endpoint = router.local(service)
  if (endpoint?.state === 'serving' && endpoint.typed !== undefined) return endpoint.typed
  throw new BusbarError('SERVICE_UNAVAILABLE', { message: reasonUnreachable(router, service), service })
}

/** Throws the error for the caller. */
function methodOf(typed: TypedHost, { service, method, kind, contract }: CallHead): HostedMethod {
  const hosted = typed.method(method)
  if (contract !== undefined && !isSameContract(contract, contractOf(hosted.spec)))
    throw new BusbarError('CONTRACT_MISMATCH', {
      message: `${service}.${method} has another contract at this host than at its caller`,
      hint: 'Give both apps the same version of the contract. A changed method needs a new name while both versions run.',
      service,
    })
  if ((hosted.spec.kind === 'stream' || hosted.spec.takesMany === true) === (kind === 'stream')) return hosted
  const message = `${service}.${method} is a ${hosted.spec.kind}, and was called as something else; the contracts of caller and service differ`
  throw new BusbarError('METHOD_UNKNOWN', { message, service, data: { nearest: [] } })
}

class AnsweredCall implements ChannelHandler, CallSink {
  readonly #hosted: HostedMethod
  readonly #call: LiveCall
  readonly #channel: Channel

  constructor(hosted: HostedMethod, call: LiveCall, channel: Channel) {
    this.#hosted = hosted
    this.#call = call
    this.#channel = channel
  }

  onCancel(reason: ErrorRecord): void {
    this.#call.end(restoreError(reason))
  }

  answered(value: unknown): void {
    if (this.#channel.failIfUnread?.() === true) return
    const encoded = encodeAnswer(value, this.#hosted, shaperOf(this.#hosted))
    if (encoded instanceof BusbarError) this.failed(encoded)
    else this.#channel.reply(encoded, true)
  }

  failed(error: BusbarError<string>): void {
    this.#channel.fail(toErrorRecord(error))
  }
}

interface AnsweredStreamParts {
  readonly hosted: HostedMethod
  readonly call: LiveCall
  readonly channel: Channel
  readonly stream: HostedStream
  /** The values of a caller that sends many. */
  readonly inputs: InputQueue | undefined
}

/** Produces values while the caller consumes them. At most a window of values is in transit. */
class AnsweredStream implements ChannelHandler {
  readonly #hosted: HostedMethod
  readonly #call: LiveCall
  readonly #channel: Channel
  readonly #stream: HostedStream
  readonly #inputs: InputQueue | undefined
  #onDrain: (() => void) | undefined

  constructor({ hosted, call, channel, stream, inputs }: AnsweredStreamParts) {
    this.#hosted = hosted
    this.#call = call
    this.#channel = channel
    this.#stream = stream
    this.#inputs = inputs
    void this.#pump()
  }

  onData(value: unknown): void {
    this.#inputs?.push(value)
  }

  onEnd(): void {
    this.#inputs?.end()
  }

  onDrain(): void {
    this.#onDrain?.()
  }

  onCancel(reason: ErrorRecord): void {
    this.#call.end(restoreError(reason))
    this.#inputs?.fail(reason)
    void this.#stream.return()
    this.#onDrain?.()
  }

  /** After a cancel the channel drops everything that is sent. */
  async #pump(): Promise<void> {
    try {
      for (let step = await this.#stream.next(); step.done !== true; step = await this.#stream.next()) {
        if (this.#channel.failIfUnread?.() === true) break
        const encoded = encodeAnswer(step.value, this.#hosted)
        if (encoded instanceof BusbarError) throw encoded
        if (!this.#channel.data(encoded)) await this.#drained()
      }
      this.#channel.end()
    } catch (error) {
      void this.#stream.return()
      // A host's stream throws nothing else.
      this.#channel.fail(toErrorRecord(error as BusbarError<string>))
    }
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => (this.#onDrain = resolve))
    this.#onDrain = undefined
  }
}

/** A result that cannot be encoded is the service's error, as within one thread. */
function encodeAnswer(value: unknown, { site }: HostedMethod, shaper?: Shaper): EncodedValue | BusbarError<string> {
  try {
    return encodeValue(value, shaper)
  } catch (error) {
    return toCallError(error, site)
  }
}

const shapers = new WeakMap<HostedMethod, Shaper>()

function shaperOf(hosted: HostedMethod): Shaper {
  let shaper = shapers.get(hosted)
  if (shaper === undefined) shapers.set(hosted, (shaper = new Shaper()))
  return shaper
}
