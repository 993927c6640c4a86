/**
 * Events over NATS. One message each, at most once:
 *
 *     [1, host, services that have it, hops, traceparent, tracestate, 0 or 1, value]
 *
 * encoded as a packet is over a socket. 1: the value has tags, which refer to the byte parts. Only
 * an `emit` spares the services that have it.
 */
import { BusbarError } from '../../contract/errors.ts'
import type { Trace } from '../../contract/context.ts'
import type { Reach } from '../../contract/events/topic.ts'
import type { NatsConnection, NatsMessage } from '../../shared/cluster/connection.ts'
import type { ClusterSubjects } from '../../shared/cluster/subjects.ts'
import type { KeptSubscription, Subscriptions } from '../../shared/cluster/subscriptions.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import type { ClusterPublisher, MeshEvent } from '../events/event-publisher.ts'
import { decodeValue } from '../links/frames/encoded-value.ts'
import { maxPacket } from '../links/limits/limits.ts'
import { type Packet, ProtocolError } from '../links/packet-transport.ts'
import type { LocalEndpoint } from '../routing/endpoint.ts'
import type { Router } from '../routing/router.ts'
import { encodePacket, PacketReader } from '../transports/packet-codec.ts'
import { PacedPublisher } from './paced-publisher.ts'

export interface ClusterEventsParts {
  readonly router: Router
  readonly subjects: ClusterSubjects
  /** The id of this app's host. */
  readonly host: string
  readonly maxHops: number
  /** The instance of the service in this thread has not accepted an event. */
  readonly countDropped: (service: string) => void
  /** Looks for another `max_payload` of the server. */
  readonly renewLimit: () => void
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/** Milliseconds between two warnings of one kind. */
const quietTime = 10_000
/** Bytes that wait for the server. It gives a reader up, too, that is as much behind. */
const maxWaiting = 64 * 1024 * 1024
/** Bytes of a message beside the value: names of services, a trace. */
const headRoom = 16 * 1024

/** This worker's events to and from other apps of the cluster. */
export class ClusterEvents implements ClusterPublisher {
  readonly #parts: ClusterEventsParts
  readonly #watch: Disposable
  readonly #locals: LocalEndpoint[] = []
  #subscribed: KeptSubscription[] = []
  #subscriptions: Subscriptions | undefined
  #connection: NatsConnection | undefined
  #publisher: PacedPublisher | undefined
  #accepts = false
  #lastWarned = -Infinity

  constructor(parts: ClusterEventsParts) {
    this.#parts = parts
    this.#watch = parts.router.watch((endpoint) => this.#locals.push(endpoint))
  }

  opened(connection: NatsConnection, subscriptions: Subscriptions): void {
    this.#connection = connection
    this.#publisher = new PacedPublisher(connection)
    this.#subscriptions = subscriptions
    this.#subscribe()
  }

  lost(): void {
    this.#connection = undefined
    this.#publisher?.release()
    this.#publisher = undefined
    this.#subscriptions = undefined
    this.#subscribed = []
  }

  /** The worker serves from now on. */
  accept(): void {
    this.#accepts = true
    this.#subscribe()
  }

  /** Other hosts get the events from now on. Resolves when those that have arrived are accepted. */
  async stop(limit: number): Promise<void> {
    this.#accepts = false
    const drained = this.#subscribed.splice(0).map((one) => one.drain().catch(() => {}))
    if (drained.length > 0) await settlesWithin(limit, [Promise.all(drained)])
  }

  /** Milliseconds that events may take to reach the server. */
  get transitTime(): number {
    return this.#publisher?.transitTime ?? 0
  }

  close(): void {
    this.#publisher?.release()
    this.#watch[Symbol.dispose]()
  }

  check({ topic, encoded: { text = '', bytes } }: MeshEvent): void {
    const most = this.#connection?.info?.max_payload
    if (most === undefined) return
    const size = bytes.reduce((sum, { byteLength }) => sum + byteLength + 4, Buffer.byteLength(text))
    if (size + headRoom <= most) return
    // For the next event: a publisher does not wait for a server.
    this.#parts.renewLimit()
    const message = `an event ${topic} of ${size} bytes is larger than NATS allows with its head (${most} bytes)`
    const hint = 'Publish where the data is stored instead of the data, or raise max_payload of NATS.'
    throw new BusbarError('INPUT_INVALID', {
      message,
      hint,
      data: { issues: [{ path: [], message: 'it is too large' }] },
    })
  }

  publish(reach: Reach, { topic, hops, trace, encoded }: MeshEvent, except: readonly string[]): void {
    const { subjects, host } = this.#parts
    const [connection, publisher] = [this.#connection, this.#publisher]
    // At most once: nothing is kept for later.
    if (connection === undefined || publisher === undefined)
      return this.#warn('other apps of the cluster get no events: there is no connection')
    const { traceparent = 0, tracestate = 0 } = trace ?? {}
    const head = JSON.stringify([1, host, except, hops, traceparent, tracestate, Number(encoded.isTagged)])
    const text = encoded.text === undefined ? head : `${head.slice(0, -1)},${encoded.text}]`
    const pieces = encodePacket({ text, bytes: encoded.bytes })
    const message = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
    const failed = (why: string): void => this.#warn(`other apps of the cluster did not get an event ${topic}: ${why}`)
    if (publisher.waiting + message.length > maxWaiting) return failed('too many wait for a slow network to NATS')
    publisher.send(message.length, () => {
      try {
        connection.publish(subjects.event(reach, topic), message)
      } catch (error) {
        failed((error as Error).message)
      }
    })
  }

  #subscribe(): void {
    if (!this.#accepts || this.#subscriptions === undefined || this.#subscribed.length > 0) return
    for (const endpoint of this.#locals)
      for (const topic of endpoint.typed?.events?.topics ?? []) {
        this.#listen('emit', topic, endpoint, { queue: endpoint.service })
        this.#listen('broadcast', topic, endpoint, {})
      }
  }

  #listen(reach: Reach, topic: string, endpoint: LocalEndpoint, options: { queue?: string }): void {
    const subject = this.#parts.subjects.event(reach, topic)
    const without = `${endpoint.service} gets no events ${topic} from other apps`
    const callback = ({ data }: NatsMessage): void => this.#arrived(reach, endpoint, topic, data)
    this.#subscribed.push(this.#subscriptions!.subscribe(subject, { ...options, without, callback }))
  }

  #arrived(reach: Reach, { service, typed, state }: LocalEndpoint, topic: string, data: Uint8Array): void {
    const { host, maxHops, countDropped } = this.#parts
    let event: ReceivedEvent
    try {
      event = readEvent(data)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      return this.#warn(`an app of the cluster ${error.message}, which is no event ${topic}`)
    }
    const { host: from, except, hops, trace, value } = event
    // This app has passed it to its own instances.
    if (from === host) return
    // Earlier versions name services in broadcasts, too.
    if (reach === 'emit' && except.includes(service)) return
    if (hops > maxHops) return this.#warn(`an event ${topic} has caused too many others, and is dropped`)
    const isAccepted = state === 'serving' && typed?.events?.accept(topic, value, { caller: undefined, hops, trace })
    if (isAccepted !== true) countDropped(service)
  }

  #warn(line: string): void {
    const now = performance.now()
    if (now - this.#lastWarned < quietTime) return
    this.#lastWarned = now
    this.#parts.log('warn', line)
  }
}

interface ReceivedEvent {
  readonly host: string
  readonly except: readonly unknown[]
  readonly hops: number
  readonly trace: Trace | undefined
  readonly value: unknown
}

/** Throws {@link ProtocolError}. Anybody who may publish in the cluster may send anything. */
function readEvent(data: Uint8Array): ReceivedEvent {
  let packet: Packet | undefined
  new PacketReader(maxPacket, (one) => (packet = one)).push(Buffer.from(data.buffer, data.byteOffset, data.byteLength))
  const list = packet === undefined ? undefined : parse(packet.text)
  if (!Array.isArray(list)) throw new ProtocolError('sent something')
  const [version, host, except, hops, traceparent, tracestate, isTagged, json] = list as unknown[]
  if (version !== 1 || typeof host !== 'string' || !Array.isArray(except) || !Number.isSafeInteger(hops))
    throw new ProtocolError('sent something')
  const trace = typeof traceparent !== 'string' ? undefined : { traceparent }
  const state = typeof tracestate === 'string' ? { tracestate } : {}
  return {
    host,
    except,
    hops: hops as number,
    trace: trace && { ...trace, ...state },
    value: isTagged === 1 ? decode(json, packet!) : json,
  }
}

function decode(json: unknown, { bytes }: Packet): unknown {
  try {
    return decodeValue(json, bytes, 0)
  } catch (error) {
    throw new ProtocolError(`sent an invalid value (${(error as Error).message})`)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
