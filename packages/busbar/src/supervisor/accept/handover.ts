import { Socket } from 'node:net'
import type { Transferable, Worker } from 'node:worker_threads'
import type { ToWorker } from '../../shared/control.ts'
import type { TcpHandle } from '../../shared/port.ts'

/**
 * Gives a connection to a thread. False: the thread is gone, and the connection still here. `postMessage` itself
 * says nothing when nobody is at the other end; what tells is that the handle kept its descriptor.
 */
export function handOver(thread: Worker, listener: string, handle: TcpHandle): boolean {
  return process.platform === 'win32'
    ? handOverSocket(thread, listener, handle)
    : handOverHandle(thread, listener, handle)
}

function handOverHandle(thread: Worker, listener: string, handle: TcpHandle): boolean {
  post(thread, { type: 'connection', listener, connection: handle }, handle)
  return handle.fd === -1
}

/** Handles on Windows have no `fd` that would tell; a `net.Socket` is `destroyed` when it was transferred. */
function handOverSocket(thread: Worker, listener: string, handle: TcpHandle): boolean {
  const socket = socketOver(handle)
  post(thread, { type: 'connection', listener, connection: socket }, socket)
  if (socket.destroyed) return true
  ;(socket as unknown as { _handle: TcpHandle | null })._handle = null
  return false
}

function post(thread: Worker, order: ToWorker, connection: TcpHandle | Socket): void {
  // @types/node does not know yet that sockets and their handles are transferable.
  thread.postMessage(order, [connection as unknown as Transferable])
}

/** As `net.Server` makes them; `handle` and `pauseOnCreate` are options of Node's own. */
function socketOver(handle: TcpHandle): Socket {
  const options = { handle, allowHalfOpen: true, pauseOnCreate: true, readable: true, writable: true }
  return new Socket(options as object)
}
