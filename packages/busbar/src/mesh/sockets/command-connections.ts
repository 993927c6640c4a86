import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isUnderWay } from '../http/exchange.ts'
import { RequestWrites } from './request-writes.ts'

/** Milliseconds between two looks at the connections. */
const lookInterval = 20

/** Milliseconds without a byte after which a response that has begun counts as complete. */
const quietTime = 200

/**
 * The connections of this worker to one command. A command has no link that would say when its last
 * call has ended, and a socket has no event for the end of a response. Only connections of the
 * gateway say whether a request is under way.
 */
export class CommandConnections {
  readonly #open = new Map<Socket, CommandConnection>()
  readonly #leaving = new AbortController()

  /** Aborts when the command gets no new calls. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  /** Call it after `connect`, which restores a replaced `write`, and before the first write. */
  add(socket: Socket): void {
    this.#open.set(socket, new CommandConnection(socket))
    socket.once('close', () => this.#open.delete(socket))
  }

  /**
   * The command drains. Further requests of a connection close it with their response. One on which
   * the command has answered, and that rests, is closed at the client's end, so that no request is
   * lost on the way. Resolves when none is left.
   */
  async leave(): Promise<void> {
    this.#leaving.abort()
    for (const { requests } of this.#open.values()) requests.end()
    while (this.#open.size > 0) {
      for (const connection of this.#open.values()) connection.closeIfQuiet()
      await sleep(lookInterval)
    }
  }
}

class CommandConnection {
  readonly requests: RequestWrites
  readonly #socket: Socket
  /** At the last look. */
  #read = 0
  #since = performance.now()

  constructor(socket: Socket) {
    this.#socket = socket
    this.requests = new RequestWrites(socket)
  }

  closeIfQuiet(): void {
    if (!this.requests.isUpgrade && !this.#isUnderWay && this.#isQuiet()) this.#socket.destroy()
  }

  get #isUnderWay(): boolean {
    return (this.#socket as { [isUnderWay]?: boolean })[isUnderWay] === true
  }

  /** Its last request was answered, as far as the bytes tell. */
  #isQuiet(): boolean {
    const { bytesRead } = this.#socket
    const now = performance.now()
    if (bytesRead !== this.#read) [this.#read, this.#since] = [bytesRead, now]
    return this.requests.isAnswered && now - this.#since >= quietTime
  }
}
