import type { Socket } from 'node:net'
import type { MessagePort, Transferable } from 'node:worker_threads'
import type { ToWorker } from '../../shared/control.ts'
import { socketOver, type TcpHandle } from '../../shared/port.ts'

/**
 * Gives a connection to the thread at the other end of a port. False: the connection is still here, since the thread is gone or there was no descriptor for
 * the copy that is sent. `postMessage` itself says nothing of either; what tells is that the handle kept its descriptor.
 */
export function handOver(thread: MessagePort, listener: string, handle: TcpHandle): boolean {
  return process.platform === 'win32'
    ? handOverSocket(thread, listener, handle)
    : handOverHandle(thread, listener, handle)
}

function handOverHandle(thread: MessagePort, listener: string, handle: TcpHandle): boolean {
  post(thread, { type: 'connection', listener, connection: handle }, handle)
  return handle.fd === -1
}

/** Handles on Windows have no `fd` that would tell; a `net.Socket` is `destroyed` when it was transferred. */
function handOverSocket(thread: MessagePort, listener: string, handle: TcpHandle): boolean {
  const socket = socketOver(handle, true)
  post(thread, { type: 'connection', listener, connection: socket }, socket)
  if (socket.destroyed) return true
  ;(socket as unknown as { _handle: TcpHandle | null })._handle = null
  return false
}

function post(thread: MessagePort, order: ToWorker, connection: TcpHandle | Socket): void {
  // @types/node does not know yet that sockets and their handles are transferable.
  thread.postMessage(order, [connection as unknown as Transferable])
}
