import type { Socket } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import type { ConnectionSink } from '../mesh/sockets/connection-sink.ts'
import type { WorkerCells } from '../shared/metrics/worker-cells.ts'
import type { Attachments } from './accelerators.ts'

/**
 * An accelerator's attachment point: gets a connection before its sink does, and returns the socket
 * that the sink gets in its place.
 */
export type ConnectionHook = (socket: Socket) => Socket

export interface ConnectionHooks {
  /** For connections that the supervisor transferred, which are paused. The result reads. */
  readonly transferred?: ConnectionHook | undefined
  /** For all connections, after `transferred`. */
  readonly accepted?: ConnectionHook | undefined
}

/** The hooks for connections of the app's clients, and of callers outside the workers. */
export function connectionHooks(attachments: Attachments): Readonly<Record<'ofClients' | 'ofCalls', ConnectionHooks>> {
  // A process receives a socket that Node has created with its handle. It is as fast as a new one.
  const transferred = isMainThread ? undefined : attachments['fresh-socket']
  return { ofClients: { transferred, accepted: attachments['batch-writes'] }, ofCalls: { transferred } }
}

/** Passes each connection from its public port to the sink that serves it, and counts closes. */
export class Listeners {
  readonly #sinks: ReadonlyMap<string, ConnectionSink>
  readonly #cells: Pick<WorkerCells, 'countClosed'>
  readonly #hooks: ConnectionHooks

  /** `sinks`: by the id of the listener. */
  constructor(
    sinks: ReadonlyMap<string, ConnectionSink>,
    cells: Pick<WorkerCells, 'countClosed'>,
    hooks: ConnectionHooks = {},
  ) {
    this.#sinks = sinks
    this.#cells = cells
    this.#hooks = hooks
  }

  has(listenerId: string): boolean {
    return this.#sinks.has(listenerId)
  }

  /** Accepts a connection that the supervisor transferred. */
  acceptTransferred(listenerId: string, transferred: Socket): void {
    const socket = (this.#hooks.transferred ?? resume)(transferred)
    socket.once('close', () => this.#cells.countClosed())
    this.accept(listenerId, socket)
  }

  /** Accepts a connection of this worker's own port. The supervisor does not count those. */
  accept(listenerId: string, socket: Socket): void {
    const sink = this.#sinks.get(listenerId)
    if (sink === undefined) return void socket.destroy()
    sink.accept(this.#hooks.accepted?.(socket) ?? socket)
  }
}

/** A transferred socket is paused. Servers expect that reading has begun. */
function resume(socket: Socket): Socket {
  // The channel to a process does not carry this flag.
  socket.allowHalfOpen = true
  socket.read(0)
  return socket
}
