import { createServer } from 'node:http'
import { createHash } from 'node:crypto'

/** A program of another app: echoes, streams, trailers, aborts, upgrades. */
const aborted = []
const seen = []
const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://stock')
  switch (pathname) {
    case '/echo': {
      const body = []
      for await (const chunk of request) body.push(chunk)
      response.writeHead(200, { 'x-method': request.method, trailer: 'x-end', 'x-custom': ['1', '2'] })
      response.write(Buffer.concat(body))
      response.addTrailers({ 'x-end': `${Buffer.concat(body).length}` })
      return response.end()
    }
    case '/stream':
      for (let at = 0; at < Number(searchParams.get('count')); at++) {
        response.write(`${at}\n`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      return response.end()
    case '/hang':
      response.write('begun')
      return void response.once('close', () => aborted.push(searchParams.get('name')))
    case '/slow':
      return void seen.push(searchParams.get('name'))
    case '/seen':
      return response.end(JSON.stringify(seen))
    case '/aborted':
      return response.end(JSON.stringify(aborted))
    case '/big':
      for (let left = 64; left > 0; left--)
        if (!response.write(Buffer.alloc(256 * 1024, left)))
          await new Promise((resolve) => response.once('drain', resolve))
      return response.end()
    case '/fails':
      return request.socket.destroy()
    case '/resets':
      response.useChunkedEncodingByDefault = false
      response.write('part')
      return void setTimeout(() => request.socket.resetAndDestroy(), 20)
    case '/who':
      return response.end(process.env.WHO ?? String(process.pid))
    default:
      return response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
  }
})

server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  )
  socket.on('data', (frame) => {
    // Echoes one short, masked text frame at a time.
    const length = frame[1] & 0x7f
    if ((frame[0] & 0x0f) === 8) return socket.end(Buffer.from([0x88, 0]))
    const text = Buffer.from(frame.subarray(6, 6 + length).map((byte, at) => byte ^ frame[2 + (at % 4)]))
    socket.write(Buffer.concat([Buffer.from([0x81, length]), text]))
  })
  socket.on('error', () => {})
})

server.listen(3000)
