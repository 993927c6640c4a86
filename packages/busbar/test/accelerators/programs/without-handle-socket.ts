/** A worker in a Node whose sockets write to their handle, without `_writeGeneric`. */
import { Socket } from 'node:net'

type Write = (this: Socket, several: boolean, data: unknown, encoding: string, done: () => void) => void

const { _writeGeneric: write } = Socket.prototype as unknown as { _writeGeneric: Write }

Object.assign(Socket.prototype, {
  _write(this: Socket, chunk: unknown, encoding: string, done: () => void): void {
    write.call(this, false, chunk, encoding, done)
  },
  _writev(this: Socket, chunks: unknown, done: () => void): void {
    write.call(this, true, chunks, '', done)
  },
})

await import('../../../src/worker/main.ts')
