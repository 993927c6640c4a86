import type { Socket } from 'node:net'
import type { WorkerCells } from '../shared/cells.ts'

/** Whoever takes the connections of a public port: the gateway, or a program's own server. */
export interface Door {
  accept(socket: Socket): void
}

/** Where an accelerator attaches: what is done to each connection that was accepted, before its door gets it. */
export type ConnectionHook = (socket: Socket) => void

/** Leads each connection from its public port to whoever serves it, and counts it when it is closed. */
export class Doors {
  readonly #doors: ReadonlyMap<string, Door>
  readonly #cells: Pick<WorkerCells, 'countClosed'>
  readonly #hook: ConnectionHook | undefined

  constructor(doors: ReadonlyMap<string, Door>, cells: Pick<WorkerCells, 'countClosed'>, hook?: ConnectionHook) {
    this.#doors = doors
    this.#cells = cells
    this.#hook = hook
  }

  has(listener: string): boolean {
    return this.#doors.has(listener)
  }

  /** A connection that the supervisor handed over. */
  admit(listener: string, socket: Socket): void {
    socket.once('close', () => this.#cells.countClosed())
    // One that comes to a process has lost it on its way.
    socket.allowHalfOpen = true
    // Nobody has read from it: servers expect that this has begun.
    socket.read(0)
    this.admitOwn(listener, socket)
  }

  /** One that this worker's own port accepted: the supervisor does not count those. */
  admitOwn(listener: string, socket: Socket): void {
    const door = this.#doors.get(listener)
    if (door === undefined) return void socket.destroy()
    this.#hook?.(socket)
    door.accept(socket)
  }
}
