import { randomBytes } from 'node:crypto'
import type { NatsConnection } from '@nats-io/transport-node'
import { readAnnouncement } from '../../../src/shared/cluster/announcement.ts'
import { subjectsOf } from '../../../src/shared/cluster/subjects.ts'
import { callerGreeting } from '../../../src/mesh/hosts/host-hello.ts'
import { encodeDial, readDial } from '../../../src/mesh/cluster/dial-message.ts'
import { encodePacket } from '../../../src/mesh/transports/packet-codec.ts'

const subjects = subjectsOf('test')

/** A peer of a cluster that speaks the protocol, and is not bound by its rules. */
export class RawClusterPeer implements AsyncDisposable {
  readonly #connection: NatsConnection
  readonly #name = randomBytes(12).toString('hex')
  #links = 0

  /** What arrives for its links is not read. */
  constructor(connection: NatsConnection) {
    this.#connection = connection
    connection.subscribe(subjects.ends(this.#name), { callback: () => {} })
  }

  get connection(): NatsConnection {
    return this.#connection
  }

  /** The id of the first host that answers. */
  async host(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>()
    this.#connection.subscribe(subjects.announcements, {
      max: 1,
      callback: (_, message) => resolve(readAnnouncement(message.string())!.host),
    })
    this.#connection.publish(subjects.roll)
    return await promise
  }

  announce(text: string): void {
    this.#connection.publish(subjects.announcements, text)
  }

  /** Undefined if the host refuses. */
  async dial(host: string): Promise<RawLink | undefined> {
    const hello = callerGreeting('raw').own.text
    const request = encodeDial({ hello, end: `${this.#name}.${++this.#links}`, maxMessage: 1024 ** 2 })
    const { end } = readDial(
      (await this.#connection.request(subjects.dial(host), request, { timeout: 60_000 })).string(),
    )
    return end === '' ? undefined : new RawLink(this.#connection, subjects.link(end))
  }

  /** A link to this end. */
  linkTo(address: string): RawLink {
    return new RawLink(this.#connection, subjects.link(address))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close()
  }
}

export class RawLink {
  readonly #connection: NatsConnection
  readonly #subject: string
  #number = 0
  #calls = 0

  constructor(connection: NatsConnection, subject: string) {
    this.#connection = connection
    this.#subject = subject
  }

  /** Sends bytes of packets, without regard to what was acknowledged. */
  data(bytes: Uint8Array): void {
    const head = Buffer.alloc(5)
    head[0] = 1
    head.writeUInt32LE(++this.#number, 1)
    this.#connection.publish(this.#subject, Buffer.concat([head, bytes]))
  }

  /** Calls of `write`. */
  calls(count: number, input: unknown): void {
    const frames = Array.from({ length: count }, () => [1, ++this.#calls, 0, 1, 'shop', 'write', 0, 0, -1, 0, 1, input])
    for (const piece of encodePacket({ text: JSON.stringify(frames), bytes: [] })) this.data(piece)
  }
}
