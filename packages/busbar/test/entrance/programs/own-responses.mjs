// Writes to its sockets itself, or gives up behind informational responses.
import { createServer } from 'node:http'

const acts = {
  reset: (socket) => socket.resetAndDestroy(),
  destroy: (socket) => socket.destroy(),
}
const informs = {
  continue: (response) => response.writeContinue(),
  processing: (response) => response.writeProcessing(),
  hints: (response) => response.writeEarlyHints({ link: '</a.css>; rel=preload' }),
  own: (response) => response.socket.write('HTTP/1.1 104 Mine\r\nX-A: 1\r\n\r\n'),
}

const runs = {}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://a')
  const [, what, how] = pathname.split('/')
  if (what === 'runs') {
    const [, , ...path] = searchParams.get('of').split('/')
    return response.end(String(runs[`/${path.join('/')}`] ?? 0))
  }
  runs[request.url] = (runs[request.url] ?? 0) + 1
  const { socket } = request
  socket.on('error', () => {})
  if (what === 'informs') {
    socket.write('HTTP/1.1 104 Mine\r\nX-A: 1\r\nX-B: 2\r\nConnection: x-c\r\n\r\n')
    socket.write('HTTP/1.1 199 Mine\r\n\r\n')
    return response.end('done')
  }
  if (what === 'gives-up') {
    informs[how](response)
    return setTimeout(acts.destroy, 10, socket)
  }
  if (what === 'refuses') return response.writeHead(413, how === 'closing' ? { connection: 'close' } : {}).end('no')
  if (what === 'says-keep-alive') return response.writeHead(200, { connection: 'keep-alive' }).end('kept')
  if (what === 'leaves') return response.destroy()
  if (what === 'dies') {
    informs[how](response)
    return setTimeout(() => {
      throw new Error('deliberate')
    }, 10)
  }
  if (what === 'states-first' || what === 'states-late') {
    response.writeHead(200, { 'content-length': how })
    if (what === 'states-first') response.flushHeaders()
    for (const part of ['1', '2345']) response.write(Buffer.from(part))
    return setTimeout(() => response.end('67'), 10)
  }
  if (what === 'states-long') return response.writeHead(200, { 'content-length': how }).end('x'.repeat(300_000))
  if (what === 'states') {
    response.writeHead(how === '304' ? 304 : 200, { 'content-length': how === '304' ? 50 : how })
    return response.end('12345')
  }
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart')
  setTimeout(acts[how], 10, socket)
})
server.listen(process.env.PORT ?? 3000)
