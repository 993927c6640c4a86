import type { NatsConnection } from '../../shared/cluster/connection.ts'
import { ackAfter, SendWindow } from './send-window.ts'

/** A list, because to shift a long array moves all of it: 64 MiB of small events took 18 s. */
interface WaitingMessage {
  readonly size: number
  readonly publish: () => void
  next: WaitingMessage | undefined
}

/** Bytes per second of the slowest network that a message may be sent over. */
const slowest = 64 * 1024

/**
 * Publishes messages of any size by one connection. At most as much is in transit as the server
 * reads in about two seconds: it delays the pings of the connection, and all other messages. NATS
 * answers pings in order, so a pong acknowledges what was sent before its ping.
 */
export class PacedPublisher {
  readonly #connection: Pick<NatsConnection, 'flush'>
  readonly #window = new SendWindow()
  #first: WaitingMessage | undefined
  #last: WaitingMessage | undefined
  #waiting = 0
  #inTransit = 0
  /** Bytes since the last ping. */
  #unpinged = 0
  #isReleased = false

  constructor(connection: Pick<NatsConnection, 'flush'>) {
    this.#connection = connection
  }

  /** Bytes that wait for their turn. */
  get waiting(): number {
    return this.#waiting
  }

  /** Milliseconds that what is in transit may take. */
  get transitTime(): number {
    return (this.#inTransit / slowest) * 1_000
  }

  /** Calls `publish`, which gives the message to the client, when its turn has come. */
  send(size: number, publish: () => void): void {
    if (this.#isReleased) return publish()
    const message: WaitingMessage = { size, publish, next: undefined }
    if (this.#first === undefined) this.#first = message
    else this.#last!.next = message
    this.#last = message
    this.#waiting += size
    this.#pump()
  }

  /** The connection is lost or closes: nothing waits any more. */
  release(): void {
    this.#isReleased = true
    for (let one = this.#take(); one !== undefined; one = this.#take()) one.publish()
  }

  #pump(): void {
    while (this.#window.isOpen) {
      const next = this.#take()
      if (next === undefined) return
      this.#window.sent(next.size)
      this.#inTransit += next.size
      this.#unpinged += next.size
      next.publish()
      if (this.#unpinged >= ackAfter) this.#ping()
    }
  }

  #take(): WaitingMessage | undefined {
    const message = this.#first
    if (message === undefined) return undefined
    this.#first = message.next
    this.#waiting -= message.size
    return message
  }

  #ping(): void {
    const size = this.#unpinged
    this.#unpinged = 0
    const acknowledged = (): void => {
      this.#inTransit -= size
      this.#window.acknowledged(size)
      this.#pump()
    }
    // It rejects if the connection is lost, and then nothing waits.
    this.#connection.flush().then(acknowledged, () => {})
  }
}
