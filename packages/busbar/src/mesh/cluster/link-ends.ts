import { randomBytes } from 'node:crypto'
import type { NatsClient, NatsConnection, NatsMessage } from '../../shared/cluster/connection.ts'
import type { ClusterSubjects } from '../../shared/cluster/subjects.ts'
import type { Subscriptions } from '../../shared/cluster/subscriptions.ts'
import { IncompletePackets } from '../transports/incomplete-packets.ts'
import { ClusterTransport, isClose } from './cluster-transport.ts'
import { isEnd } from './dial-message.ts'

/** One end of a link over NATS. */
export interface NatsLinkEnd {
  /** Where the other end sends to. */
  readonly address: string
  /** What arrives before it is opened waits. */
  readonly transport: ClusterTransport
  /** The other end is known from now on. `maxMessage`: bytes that its server allows. */
  connect(address: string, maxMessage: number): void
}

interface OpenEnd {
  readonly transport: ClusterTransport
  /** Where it sends to. Undefined until the other end is known. */
  subject: string | undefined
}

/** The ends of links of one NATS connection. One subscription serves them all. */
export class LinkEnds {
  readonly #connection: NatsConnection
  readonly #subjects: ClusterSubjects
  readonly #name = randomBytes(12).toString('hex')
  readonly #open = new Map<string, OpenEnd>()
  readonly #incomplete: IncompletePackets
  /** Of the answer to what is sent to an end that is not open. */
  readonly #unknown: NatsMessage['headers']
  #last = 0

  constructor(
    connection: NatsConnection,
    subscriptions: Subscriptions,
    subjects: ClusterSubjects,
    client: NatsClient,
    incomplete = new IncompletePackets(),
  ) {
    this.#connection = connection
    this.#subjects = subjects
    this.#incomplete = incomplete
    this.#unknown = client.headers(noResponders, 'Unknown Link')
    subscriptions.subscribe(subjects.ends(this.#name), {
      without: 'calls to and from other apps of the cluster fail',
      callback: (message) => this.#arrived(message),
    })
    subscriptions.onMessageRefused((subject, objection) => this.#refused(subject, objection))
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
    const open: OpenEnd = { transport, subject: undefined }
    this.#open.set(number, open)
    return {
      address: `${this.#name}.${number}`,
      transport,
      connect: (address, maxMessage) => {
        const subject = this.#subjects.link(address)
        // The server answers there if nobody gets the message.
        const reply = this.#subjects.link(`${this.#name}.${number}`)
        open.subject = subject
        parts.maxMessage = Math.min(parts.maxMessage, maxMessage)
        parts.publish = (message) => {
          if (!this.#connection.isClosed()) this.#connection.publish(subject, message, { reply })
        }
      },
    }
  }

  /** The connection is lost. */
  lost(): void {
    for (const { transport } of this.#open.values()) transport.fail('cannot be reached: the connection to NATS is lost')
  }

  /** A peer that gets nothing answers nothing: calls would wait until their deadline. */
  #refused(subject: string, objection: string): void {
    for (const open of this.#open.values())
      if (open.subject === subject) open.transport.fail(`gets no messages, which NATS refuses: ${objection}`)
  }

  #arrived({ subject, data, headers, reply }: NatsMessage): void {
    const transport = this.#open.get(subject.slice(subject.lastIndexOf('.') + 1))?.transport
    if (headers?.code === noResponders) transport?.fail('has ended, or has lost its connection to NATS')
    else if (transport !== undefined) transport.receive(data)
    else if (!isClose(data)) this.#disown(reply)
  }

  /**
   * The other end does not know that this one has ended: what told it was lost. The server says
   * nothing, because the subscription stays. `reply`: only an end of a link gets an answer.
   */
  #disown(reply = ''): void {
    const prefix = this.#subjects.link('')
    const isOfLink = reply.startsWith(prefix) && isEnd(reply.slice(prefix.length))
    if (isOfLink && !this.#connection.isClosed()) this.#connection.publish(reply, undefined, { headers: this.#unknown })
  }
}

/** The status that the server answers if nobody has subscribed. It is never answered itself. */
const noResponders = 503

/** Bytes: what servers allow by default. */
const defaultPayload = 1024 * 1024
