import { AsyncResource } from 'node:async_hooks'
import type { Done, HandleSocket } from '../../../node/handle-socket.ts'

/** A write that the caller has no room for. It completes in the async context of the write. */
export class HeldWrite extends AsyncResource {
  readonly socket: HandleSocket
  readonly done: Done

  constructor(socket: HandleSocket, done: Done) {
    super('BusbarWrite', { requireManualDestroy: true })
    this.socket = socket
    this.done = done
  }

  completeSoon(): void {
    process.nextTick(completeInContext, this)
  }
}

function completeInContext(held: HeldWrite): void {
  held.runInAsyncScope(complete, null, held)
}

function complete({ socket, done }: HeldWrite): void {
  done(null)
  const { response } = socket
  // Node 26 counts the framing too, which the socket does not get. So a response may wait for
  // `'drain'` where the socket's buffer was not full.
  if (response?.writableNeedDrain === true && response.writableLength === 0) socket.emit('drain')
}
