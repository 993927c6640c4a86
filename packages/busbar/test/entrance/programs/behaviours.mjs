// Does what its path says.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { threadId } from 'node:worker_threads'

let closed = 0
const ways = {
  '/seen'(request, response) {
    const { remoteAddress, remotePort, remoteFamily, localAddress, localPort, encrypted } = request.socket
    const socket = { remoteAddress, remotePort, remoteFamily, localAddress, localPort, encrypted: encrypted ?? null }
    response.end(JSON.stringify({ rawHeaders: request.rawHeaders, httpVersion: request.httpVersion, ...socket }))
  },
  '/thread': (_request, response) => response.end(String(threadId)),
  async '/digest'(request, response) {
    const hash = createHash('sha256')
    let length = 0
    for await (const chunk of request) {
      hash.update(chunk)
      length += chunk.length
    }
    response.end(JSON.stringify({ length, digest: hash.digest('hex'), trailers: request.rawTrailers }))
  },
  /** Reads nothing until it is told to by another request. */
  '/unread'(request, response) {
    waiting = () => request.resume().on('end', () => response.end('read'))
  },
  '/read'(_request, response) {
    waiting?.()
    response.end()
  },
  /** Writes as a well-behaved program does, and tells how far ahead of the client it got. */
  async '/flow'(request, response) {
    const total = Number(new URL(request.url, 'http://a').searchParams.get('bytes'))
    const chunk = Buffer.alloc(64 * 1024, 'x')
    written = 0
    while (written < total && !response.destroyed) {
      written += chunk.length
      if (!response.write(chunk)) await first(response, ['drain', 'close'])
    }
    response.end()
  },
  /** Many chunks of one byte. */
  async '/tiny'(request, response) {
    for (let n = 0; n < 60_000 && !response.destroyed; n++)
      if (!response.write('x')) await first(response, ['drain', 'close'])
    response.end()
  },
  /** One large piece, of which each response is a reference. */
  '/large': (_request, response) => response.end(large),
  /** So many bytes behind a head with a field of 8 bit, in one turn. */
  '/bytes'(request, response) {
    const length = Number(new URL(request.url, 'http://a').searchParams.get('length'))
    response.setHeader('x-name', 'caf\u00e9')
    response.end(Buffer.from(Array.from({ length }, (_, at) => at % 251)))
  },
  '/written': (_request, response) => response.end(String(written)),
  '/open'(request, response) {
    response.on('close', () => closed++)
    response.write('begun')
  },
  '/closed': (_request, response) => response.end(String(closed)),
  '/never'() {},
  /** The head of an upgrade that nobody asked for, in place of a response. */
  '/raw-101': (request) => request.socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
  '/loop'() {
    for (;;);
  },
  '/throw'() {
    throw new Error('thrown by the program')
  },
  '/reset': (request) => void request.socket.destroy(),
  /** Has a timeout, which destroys the connection: amid the request, unless it answers. */
  '/impatient'(request, response) {
    request.setTimeout(200)
    const how = new URL(request.url, 'http://a').searchParams.get('how')
    if (how === 'part') response.write('begun')
    else if (how === 'answer') response.end('answered')
  },
  /** Its response has less than its length. To Node it has ended. */
  '/short'(request, response) {
    request.socket.server.keepAliveTimeout = 100
    response.writeHead(200, { 'content-length': 50 }).end('short')
  },
  '/cut'(request, response) {
    response.writeHead(200, { 'content-length': 100 })
    response.write('half', () => request.socket.destroy())
  },
}
let waiting
const large = Buffer.alloc(8 * 1024 * 1024, 'x')
let written = 0

/** Resolves at the first of these events, and leaves no listener. */
function first(emitter, events) {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of events) emitter.off(event, done)
      resolve()
    }
    for (const event of events) emitter.on(event, done)
  })
}

process.on('uncaughtException', () => {})
createServer((request, response) => {
  const way = ways[request.url.replace(/\?.*/, '')]
  if (way === undefined) response.writeHead(404).end()
  else void way(request, response)
})
  .on('upgrade', (request, socket, head) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.write(head)
    socket.on('error', () => {}).pipe(socket)
  })
  .listen(process.env.PORT ?? 3000)
