import { startRunningTimeout } from '../../shared/time/running-timeout.ts'
import type { MemorySocket } from './memory-socket.ts'

/**
 * Milliseconds in which a client's end answers. A client whose thread is blocked for longer loses
 * its connection, as a client of a system socket would.
 */
const answerTime = 5000

/**
 * How a server closes an idle connection without losing a request. A server that simply closes it
 * loses a request that is on its way, and most agents do not keep to the time that `keep-alive:
 * timeout=5` announces. So the server's end asks with the number of bytes that it has read. The
 * client's end closes the connection if it has sent no more than that. Otherwise a request arrives,
 * and the connection stays.
 */
export class IdleClose {
  #clearTimer: (() => void) | undefined

  /** The client's end was asked and has not answered, and no bytes have come since. */
  get isAsked(): boolean {
    return this.#clearTimer !== undefined
  }

  /** `destroy` is called if there is no answer. */
  ask(opposite: { closeIfSent(received: number): void }, received: number, destroy: () => void): void {
    if (this.isAsked) return
    this.#clearTimer = startRunningTimeout(answerTime, destroy)
    opposite.closeIfSent(received)
  }

  stop(): void {
    this.#clearTimer?.()
    this.#clearTimer = undefined
  }
}

/**
 * Ends a client's socket and takes it out of its agent. An agent removes a socket at `'close'`,
 * which is too late: until then it uses the socket for requests. A socket that may stay half-open
 * is left to its owner, since agents have none of those.
 */
export function leaveAgent(socket: MemorySocket): void {
  if (socket.allowHalfOpen) return
  // The agent keeps a free socket that is still writable.
  socket.end()
  socket.emit('agentRemove')
}
