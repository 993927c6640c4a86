import { randomBytes } from 'node:crypto'
import type { NatsConnection } from '../../shared/cluster/connection.ts'
import type { ClusterSubjects } from '../../shared/cluster/subjects.ts'
import { maxPacket } from '../links/limits.ts'
import { ClusterTransport } from './cluster-transport.ts'

/** One end of a link over NATS. */
export interface NatsLinkEnd {
  /** Where the other end sends to. */
  readonly address: string
  /** What arrives before it is opened waits. */
  readonly transport: ClusterTransport
  /** The other end is known from now on. `maxMessage`: bytes that its server allows. */
  connect(address: string, maxMessage: number): void
}

/** The ends of links of one NATS connection. One subscription serves them all. */
export class LinkEnds {
  readonly #connection: NatsConnection
  readonly #subjects: ClusterSubjects
  readonly #name = randomBytes(12).toString('hex')
  readonly #open = new Map<string, ClusterTransport>()
  readonly #maxWaiting: number
  /** Bytes of incomplete packets, by link, and their sum. */
  readonly #waiting = new Map<string, number>()
  #allWaiting = 0
  #last = 0

  /** `maxWaiting`: bytes, for tests. */
  constructor(connection: NatsConnection, subjects: ClusterSubjects, maxWaiting = 2 * maxPacket) {
    this.#connection = connection
    this.#subjects = subjects
    this.#maxWaiting = maxWaiting
    connection.subscribe(subjects.ends(this.#name), {
      callback: (error, { subject, data, headers }) => {
        const number = subject.slice(subject.lastIndexOf('.') + 1)
        const transport = error === null ? this.#open.get(number) : undefined
        if (headers?.code === noResponders) transport?.fail('has ended, or has lost its connection to NATS')
        else if (transport !== undefined) this.#receive(number, transport, data)
      },
    })
  }

  /** Bytes of one message that the server allows. */
  get maxMessage(): number {
    return this.#connection.info?.max_payload ?? defaultPayload
  }

  create(): NatsLinkEnd {
    const number = String(++this.#last)
    const parts = {
      publish: undefined as ((message: Uint8Array) => void) | undefined,
      maxMessage: this.maxMessage,
      closed: () => {
        this.#open.delete(number)
        this.#setWaiting(number, 0)
      },
    }
    const transport = new ClusterTransport(parts)
    this.#open.set(number, transport)
    return {
      address: `${this.#name}.${number}`,
      transport,
      connect: (address, maxMessage) => {
        const subject = this.#subjects.link(address)
        // The server answers there if nobody gets the message.
        const reply = this.#subjects.link(`${this.#name}.${number}`)
        parts.maxMessage = Math.min(parts.maxMessage, maxMessage)
        parts.publish = (message) => {
          if (!this.#connection.isClosed()) this.#connection.publish(subject, message, { reply })
        }
      },
    }
  }

  /** A peer could open many links, and leave a large packet incomplete on each. */
  #receive(number: string, transport: ClusterTransport, data: Uint8Array): void {
    transport.receive(data)
    this.#setWaiting(number, transport.waiting)
    if (transport.waiting === 0 || this.#allWaiting <= this.#maxWaiting) return
    transport.fail('has sent a part of a packet, while those of all links need too much memory')
  }

  #setWaiting(number: string, bytes: number): void {
    this.#allWaiting += bytes - (this.#waiting.get(number) ?? 0)
    if (bytes === 0) this.#waiting.delete(number)
    else this.#waiting.set(number, bytes)
  }

  /** The connection is lost. */
  lost(): void {
    for (const transport of this.#open.values()) transport.fail('cannot be reached: the connection to NATS is lost')
  }
}

/** The status that the server answers if nobody has subscribed. */
const noResponders = 503

/** Bytes: what servers allow by default. */
const defaultPayload = 1024 * 1024
