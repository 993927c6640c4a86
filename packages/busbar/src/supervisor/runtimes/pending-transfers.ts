import type { Socket } from 'node:net'
import { threadsNow } from '../../shared/metrics/worker-cells.ts'
import type { ToWorker } from '../../shared/control-messages.ts'
import type { TransferResult } from './runtime.ts'

export interface PendingTransfersParts {
  readonly send: (message: ToWorker, socket?: Socket) => void
  /** Receives a connection that the process did not take. */
  readonly returned: (listenerId: string, socket: Socket) => void
}

/** Milliseconds that a connection may be on its way before the process is asked for it. */
const askAfter = 100

/**
 * Milliseconds for which a process that declined a connection gets no other, unless it closes one
 * before. Many times {@link askAfter}, so that a connection that every process declines is refused
 * after one round.
 */
const fullFor = 2000

/**
 * Connections that are on their way at once. Node sends the next one when the process has read the
 * one before, and keeps every later message behind it: a busy process heard of its stop only when
 * it had taken all connections, up to the end of `stopTimeout`.
 */
const window = 2

interface Transfer {
  readonly listenerId: string
  readonly socket: Socket
}

/**
 * Connections on their way to a process. The process gets a copy of each; this process closes its
 * own when the process has confirmed that it took the connection.
 */
export class PendingTransfers {
  readonly #parts: PendingTransfersParts
  readonly #pending = new Map<number, Transfer>()
  /** Beyond {@link window}. */
  #waiting: Transfer[] = []
  #next = 0
  #asking: NodeJS.Timeout | undefined
  #asked = -1
  /** Until then the process gets no connections, for lack of descriptors; of {@link threadsNow}. */
  #fullUntil = -Infinity

  constructor(parts: PendingTransfersParts) {
    this.#parts = parts
  }

  add(listenerId: string, socket: Socket): TransferResult {
    if (threadsNow() < this.#fullUntil) return 'full'
    this.#waiting.push({ listenerId, socket })
    this.#sendNext()
    return 'taken'
  }

  #sendNext(): void {
    while (this.#pending.size < window) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      const id = this.#next++
      this.#pending.set(id, next)
      this.#parts.send({ type: 'connectionHandle', listenerId: next.listenerId, id }, next.socket)
      this.#askLater()
    }
  }

  /**
   * The process answers in order: earlier connections that it did not answer for have not arrived.
   */
  settle(id: number, isTaken: boolean): void {
    for (const [other, { listenerId, socket }] of this.#pending) {
      if (other > id) break
      this.#pending.delete(other)
      if (other === id && isTaken) socket.destroy()
      else {
        this.#fullUntil = threadsNow() + fullFor
        this.#parts.returned(listenerId, socket)
      }
    }
    if (this.#pending.size === 0) this.#stopAsking()
    if (threadsNow() < this.#fullUntil) this.returnWaiting()
    else this.#sendNext()
  }

  /** The process has closed a connection, so it may have a descriptor for another. */
  mayHaveRoom(): void {
    this.#fullUntil = -Infinity
  }

  /** The process has ended. */
  returnAll(): void {
    this.#stopAsking()
    const left = [...this.#pending.values()]
    this.#pending.clear()
    for (const { listenerId, socket } of left) this.#parts.returned(listenerId, socket)
    this.returnWaiting()
  }

  /** The process takes no more connections, and may still confirm those on their way. */
  returnWaiting(): void {
    const left = this.#waiting
    this.#waiting = []
    for (const { listenerId, socket } of left) this.#parts.returned(listenerId, socket)
  }

  /**
   * The system drops a connection that the process has no descriptor for, and Node reports that to
   * neither side.
   */
  #askLater(): void {
    this.#asking ??= setTimeout(() => {
      this.#asking = undefined
      const last = [...this.#pending.keys()].at(-1)
      if (last === undefined) return
      if (last !== this.#asked) this.#parts.send({ type: 'connectionsSent', id: last })
      this.#asked = last
      this.#askLater()
    }, askAfter)
  }

  #stopAsking(): void {
    clearTimeout(this.#asking)
    this.#asking = undefined
  }
}
