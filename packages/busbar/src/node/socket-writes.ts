/**
 * How a `net.Socket` writes and ends (lib/net.js): the methods that Node's streams call, and the
 * list of data that waits for a connection. Both can be replaced on one socket.
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
  /** Written, but not passed to the kernel. `bytesWritten` includes it. */
  _pendingData: readonly Piece[] | null
}

/** The socket's own methods. */
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

/** Sets the data that the socket counts as written in addition. */
export function setPending(socket: Socket, pieces: readonly Piece[]): void {
  internals(socket)._pendingData = pieces
}

/** Milliseconds that the probe's writes may take. */
const probeTimeout = 5000

/**
 * Undefined if three writes can be held and sent as one over a local connection, with a callback
 * for each.
 */
export async function socketWritesFault(): Promise<unknown> {
  let called = 0
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
    for (const text of ['a', 'b', 'c']) socket.write(text, () => called++)
    isHeld = held.length === 3 && socket.bytesWritten === 3
    socket.end()
  })
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect({ host: '127.0.0.1', port }).setTimeout(probeTimeout, () => socket.destroy())
    const text = Buffer.concat(await socket.toArray()).toString()
    if (!isHeld) return 'a socket does not write by its replaced methods'
    return text === 'abc' && called === 3
      ? undefined
      : `of three writes ${called} were completed, and "${text}" arrived`
  } catch (error) {
    return error
  } finally {
    server.close()
  }
}

function internals(socket: Socket): Internals {
  return socket as unknown as Internals
}
