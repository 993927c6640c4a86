import type { Socket } from 'node:net'
import type { ConnectionSink } from '../mesh/sockets/instance/connection-sink.ts'
import type { WorkerCells } from '../shared/metrics/worker-cells.ts'

/** An accelerator's attachment point: called with each connection before its sink gets it. */
export type ConnectionHook = (socket: Socket) => void

/** Passes each connection from its public port to the sink that serves it, and counts closes. */
export class Listeners {
  readonly #sinks: ReadonlyMap<string, ConnectionSink>
  readonly #cells: Pick<WorkerCells, 'countClosed'>
  readonly #hook: ConnectionHook | undefined

  /** `sinks`: by the id of the listener. */
  constructor(
    sinks: ReadonlyMap<string, ConnectionSink>,
    cells: Pick<WorkerCells, 'countClosed'>,
    hook?: ConnectionHook,
  ) {
    this.#sinks = sinks
    this.#cells = cells
    this.#hook = hook
  }

  has(listenerId: string): boolean {
    return this.#sinks.has(listenerId)
  }

  /** Accepts a connection that the supervisor transferred. */
  acceptTransferred(listenerId: string, socket: Socket): void {
    socket.once('close', () => this.#cells.countClosed())
    // The channel to a process does not carry this flag.
    socket.allowHalfOpen = true
    // A transferred socket is paused. Servers expect that reading has begun.
    socket.read(0)
    this.accept(listenerId, socket)
  }

  /** Accepts a connection of this worker's own port. The supervisor does not count those. */
  accept(listenerId: string, socket: Socket): void {
    const sink = this.#sinks.get(listenerId)
    if (sink === undefined) return void socket.destroy()
    this.#hook?.(socket)
    sink.accept(socket)
  }
}
