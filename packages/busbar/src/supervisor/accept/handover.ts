import type { Socket } from 'node:net'
import type { MessagePort, Transferable } from 'node:worker_threads'
import type { ToWorker } from '../../shared/control.ts'

/** Gives a paused connection to the thread at the other end of a port. False: it is still here, and cannot be sent. */
export function handOver(thread: MessagePort, listener: string, socket: Socket): boolean {
  const order: ToWorker = { type: 'connection', listener, connection: socket }
  try {
    // @types/node does not know yet that sockets are transferable.
    thread.postMessage(order, [socket as unknown as Transferable])
    return true
  } catch {
    return false
  }
}
