/**
 * How a `net.Socket` writes and ends (`lib/net.js`): the methods that Node's streams ask of it, and what it has for bytes that wait
 * for a connection. Both can be replaced on one socket.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Done = (error?: Error | null) => void

export interface Piece {
  readonly chunk: string | Buffer
  readonly encoding: BufferEncoding
}

export interface SocketWrites {
  readonly write: (chunk: string | Buffer, encoding: BufferEncoding, done: Done) => void
  readonly writeAll: (pieces: readonly Piece[], done: Done) => void
  readonly final: (done: Done) => void
  readonly destroy: (error: Error | null, done: Done) => void
}

interface Internals {
  _write: SocketWrites['write']
  _writev: SocketWrites['writeAll']
  _final: SocketWrites['final']
  _destroy: SocketWrites['destroy']
  /** Written, and not given to the kernel: `bytesWritten` counts it. */
  _pendingData: readonly Piece[] | null
}

/** The socket's own. */
export function writesOf(socket: Socket): SocketWrites {
  const { _write, _writev, _final, _destroy } = internals(socket)
  return {
    write: _write.bind(socket),
    writeAll: _writev.bind(socket),
    final: _final.bind(socket),
    destroy: _destroy.bind(socket),
  }
}

export function replaceWrites(socket: Socket, { write, writeAll, final, destroy }: SocketWrites): void {
  Object.assign(socket, { _write: write, _writev: writeAll, _final: final, _destroy: destroy })
}

/** What the socket is to count as written. */
export function setPending(socket: Socket, pieces: readonly Piece[]): void {
  internals(socket)._pendingData = pieces
}

/** Milliseconds that the probe's writes may take. */
const probeTime = 5000

/** Three writes that are held and sent as one over a connection of this machine, and each told of. Undefined where that works. */
export async function socketWritesFault(): Promise<unknown> {
  let told = 0
  let isHeld = false
  const server = createServer((socket) => {
    const own = writesOf(socket)
    const held: Piece[] = []
    replaceWrites(socket, {
      ...own,
      write(chunk, encoding, done) {
        held.push({ chunk, encoding })
        setPending(socket, held)
        done()
      },
      final: (done) => own.writeAll(held, (error) => (error ? done(error) : own.final(done))),
    })
    for (const text of ['a', 'b', 'c']) socket.write(text, () => told++)
    isHeld = held.length === 3 && socket.bytesWritten === 3
    socket.end()
  })
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect({ host: '127.0.0.1', port }).setTimeout(probeTime, () => socket.destroy())
    const text = Buffer.concat(await socket.toArray()).toString()
    if (!isHeld) return 'a socket does not write by the methods that it has'
    return text === 'abc' && told === 3 ? undefined : `of three writes ${told} were told of, and "${text}" arrived`
  } catch (error) {
    return error
  } finally {
    server.close()
  }
}

function internals(socket: Socket): Internals {
  return socket as unknown as Internals
}
