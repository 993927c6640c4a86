import type { ClientRequest } from 'node:http'

/** A request's head as it goes over a wire. */
export interface RequestHead {
  readonly method: string
  readonly path: string
  /** Name, value, name, value… */
  readonly rawHeaders: readonly string[]
  readonly httpVersion: '1.0' | '1.1'
}

/** In a name or a value, each of these would begin a line of its own. */
const lineEnd = /[\r\n\0]/

/** Throws for a head that would be read as another one than it is. */
export function headBytes({ method, path, rawHeaders, httpVersion }: RequestHead): Buffer {
  const parts = [method, path, ...rawHeaders]
  if (parts.some((part) => lineEnd.test(part)) || path.includes(' '))
    throw new TypeError('a field of the head has a line end')
  const lines = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  return Buffer.from(`${method} ${path} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`, 'latin1')
}

/**
 * Has `request` send `head` in place of the head that Node's client writes. Node's would have
 * another version, a `Connection` that nobody sent, and throws for fields that are no fault in a
 * request that is only passed on, such as `Trailer` without a body in chunks. Node's client still
 * frames the body and reads the answer.
 */
export function sendOwnHead(request: ClientRequest, head: Buffer): void {
  request.once('socket', (socket) => {
    const own = Object.getOwnPropertyDescriptor(socket, 'write')
    let before = Buffer.alloc(0)
    const replacing = (chunk: Uint8Array | string, encoding?: unknown, callback?: unknown): boolean => {
      const done = typeof encoding === 'function' ? encoding : callback
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding) : chunk
      before = Buffer.concat([before, bytes])
      const end = before.indexOf('\r\n\r\n')
      if (end === -1) {
        if (typeof done === 'function') process.nextTick(done)
        return true
      }
      // A kept connection has another request next.
      if (own === undefined) Reflect.deleteProperty(socket, 'write')
      else Object.defineProperty(socket, 'write', own)
      const rest = Buffer.concat([head, before.subarray(end + 4)])
      return typeof done === 'function' ? socket.write(rest, done as () => void) : socket.write(rest)
    }
    socket.write = replacing
  })
}
