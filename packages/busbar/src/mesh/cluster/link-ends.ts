import { randomBytes } from 'node:crypto'
import type { NatsConnection } from '../../shared/cluster/connection.ts'
import type { ClusterSubjects } from '../../shared/cluster/subjects.ts'
import { IncompletePackets } from '../transports/incomplete-packets.ts'
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
  readonly #incomplete: IncompletePackets
  #last = 0

  constructor(connection: NatsConnection, subjects: ClusterSubjects, incomplete = new IncompletePackets()) {
    this.#connection = connection
    this.#subjects = subjects
    this.#incomplete = incomplete
    connection.subscribe(subjects.ends(this.#name), {
      callback: (error, { subject, data, headers }) => {
        const number = subject.slice(subject.lastIndexOf('.') + 1)
        const transport = error === null ? this.#open.get(number) : undefined
        if (headers?.code === noResponders) transport?.fail('has ended, or has lost its connection to NATS')
        else transport?.receive(data)
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
      incomplete: this.#incomplete,
      closed: () => this.#open.delete(number),
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

  /** The connection is lost. */
  lost(): void {
    for (const transport of this.#open.values()) transport.fail('cannot be reached: the connection to NATS is lost')
  }
}

/** The status that the server answers if nobody has subscribed. */
const noResponders = 503

/** Bytes: what servers allow by default. */
const defaultPayload = 1024 * 1024
