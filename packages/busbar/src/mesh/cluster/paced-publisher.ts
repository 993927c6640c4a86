import type { NatsConnection } from '../../shared/cluster/connection.ts'
import { ackAfter, SendWindow } from './send-window.ts'

interface WaitingMessage {
  readonly size: number
  readonly publish: () => void
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
  readonly #queue: WaitingMessage[] = []
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
    this.#queue.push({ size, publish })
    this.#waiting += size
    this.#pump()
  }

  /** The connection is lost or closes: nothing waits any more. */
  release(): void {
    this.#isReleased = true
    this.#waiting = 0
    for (const { publish } of this.#queue.splice(0)) publish()
  }

  #pump(): void {
    while (this.#window.isOpen) {
      const next = this.#queue.shift()
      if (next === undefined) return
      const { size, publish } = next
      this.#waiting -= size
      this.#window.sent(size)
      this.#inTransit += size
      this.#unpinged += size
      publish()
      if (this.#unpinged >= ackAfter) this.#ping()
    }
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
