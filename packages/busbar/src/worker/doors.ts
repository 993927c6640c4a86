import { Socket } from 'node:net'
import { takeHandle } from '../mesh/listener.ts'
import type { WorkerCells } from '../shared/cells.ts'
import type { TcpHandle } from '../shared/port.ts'

/** Whoever takes the connections of a public port: the gateway, or a program's own server. */
export interface Door {
  accept(handle: unknown): void
}

/** Leads each connection from its public port to whoever serves it, and counts it when it is closed. */
export class Doors {
  readonly #doors: ReadonlyMap<string, Door>
  readonly #cells: Pick<WorkerCells, 'countClosed'>

  constructor(doors: ReadonlyMap<string, Door>, cells: Pick<WorkerCells, 'countClosed'>) {
    this.#doors = doors
    this.#cells = cells
  }

  has(listener: string): boolean {
    return this.#doors.has(listener)
  }

  /** A connection that the supervisor handed over. */
  admit(listener: string, connection: TcpHandle | Socket): void {
    const handle = connection instanceof Socket ? (takeHandle(connection) as TcpHandle) : connection
    this.admitOwn(listener, handle, () => this.#cells.countClosed())
  }

  /** One that this worker's own port accepted: the supervisor does not count those. `closed` is told once. */
  admitOwn(listener: string, handle: TcpHandle, closed?: () => void): void {
    if (closed !== undefined) countClose(handle, closed)
    const door = this.#doors.get(listener)
    if (door === undefined) handle.close()
    else door.accept(handle)
  }
}

/**
 * Every way that a connection ends goes through its handle: `net.Socket` closes or resets it, TLS closes the one
 * below, a server that is full or gone closes it at once. So it is counted there, once.
 */
function countClose(handle: TcpHandle, count: () => void): void {
  const close = handle.close.bind(handle)
  const reset = handle.reset?.bind(handle)
  let open = true
  const closing = (): void => {
    if (open) count()
    open = false
  }
  handle.close = (done) => {
    closing()
    close(done)
  }
  if (reset === undefined) return
  handle.reset = (done) => {
    closing()
    return reset(done)
  }
}
