import type { ClientRequest } from 'node:http'

/** A request's head as it is sent. */
export interface RawHead {
  readonly method: string
  readonly path: string
  /** Name, value, name, value… */
  readonly rawHeaders: readonly string[]
  readonly httpVersion: '1.0' | '1.1'
}

/** Each of these would start a new line if a name or a value contained it. */
const lineEnd = /[\r\n\0]/

/** Throws if a receiver would parse the head as a different one. */
export function encodeHead({ method, path, rawHeaders, httpVersion }: RawHead): Buffer {
  const parts = [method, path, ...rawHeaders]
  if (parts.some((part) => lineEnd.test(part)) || path.includes(' '))
    throw new TypeError('a field of the head has a line end')
  const lines = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  return Buffer.from(`${method} ${path} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`, 'latin1')
}

/**
 * Makes `request` send `head` instead of the head that Node's client writes. Node would change the
 * HTTP version, add a `Connection` header, and throw for fields that are allowed in a forwarded
 * request, such as `Trailer` without a chunked body. Node's client still frames the body and reads
 * the response.
 */
export function sendRawHead(request: ClientRequest, head: Buffer): void {
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
      // A keep-alive connection sends another request next.
      if (own === undefined) Reflect.deleteProperty(socket, 'write')
      else Object.defineProperty(socket, 'write', own)
      const rest = Buffer.concat([head, before.subarray(end + 4)])
      return typeof done === 'function' ? socket.write(rest, done as () => void) : socket.write(rest)
    }
    socket.write = replacing
  })
}
