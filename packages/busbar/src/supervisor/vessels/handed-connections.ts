import type { Socket } from 'node:net'
import { threadsNow } from '../../shared/cells.ts'
import type { ToWorker } from '../../shared/control.ts'
import type { Handed } from './vessel.ts'

export interface HandedConnectionsParts {
  readonly send: (message: ToWorker, socket?: Socket) => void
  /** One that the process did not take. */
  readonly returned: (listener: string, socket: Socket) => void
}

/** How long a connection may be under way before the process is asked for it, in milliseconds. */
const askAfter = 100

/**
 * How long a process that has declined a connection gets no other, in milliseconds, unless it closes one before. Many times
 * {@link askAfter}, so that a connection that every process drops is refused after one round.
 */
const fullFor = 2000

/** Connections on their way to a process, by number: the system has a copy of each until the process says that it took it. */
export class HandedConnections {
  readonly #parts: HandedConnectionsParts
  readonly #underway = new Map<number, { listener: string; socket: Socket }>()
  #next = 0
  #asking: NodeJS.Timeout | undefined
  #asked = -1
  /** Until then it gets no connections, for lack of descriptors; of {@link threadsNow}. */
  #fullUntil = -Infinity

  constructor(parts: HandedConnectionsParts) {
    this.#parts = parts
  }

  /** It is ours until the process has said that it took it. */
  hand(listener: string, socket: Socket): Handed {
    if (threadsNow() < this.#fullUntil) return 'full'
    const id = this.#next++
    this.#underway.set(id, { listener, socket })
    this.#parts.send({ type: 'handle', listener, id }, socket)
    this.#askLater()
    return 'taken'
  }

  /** They come in order: those before `id` of which nothing was said have not come. */
  settle(id: number, isTaken: boolean): void {
    for (const [other, { listener, socket }] of this.#underway) {
      if (other > id) break
      this.#underway.delete(other)
      if (other === id && isTaken) socket.destroy()
      else {
        this.#fullUntil = threadsNow() + fullFor
        this.#parts.returned(listener, socket)
      }
    }
    if (this.#underway.size === 0) this.#stopAsking()
  }

  /** The process has closed a connection. */
  mayHaveRoom(): void {
    this.#fullUntil = -Infinity
  }

  /** The process has ended. */
  returnAll(): void {
    this.#stopAsking()
    const left = [...this.#underway.values()]
    this.#underway.clear()
    for (const { listener, socket } of left) this.#parts.returned(listener, socket)
  }

  /** The system drops a connection that the process has no descriptor for, and Node says so to neither side. */
  #askLater(): void {
    this.#asking ??= setTimeout(() => {
      this.#asking = undefined
      const last = [...this.#underway.keys()].at(-1)
      if (last === undefined) return
      if (last !== this.#asked) this.#parts.send({ type: 'handed', id: last })
      this.#asked = last
      this.#askLater()
    }, askAfter)
  }

  #stopAsking(): void {
    clearTimeout(this.#asking)
    this.#asking = undefined
  }
}
