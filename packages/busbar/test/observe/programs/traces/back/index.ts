import { createHash } from 'node:crypto'
import { createServer } from 'node:http'

/** Answers with the context that it has got. */
createServer((req, res) => {
  const { traceparent, tracestate } = req.headers
  const { pathname } = new URL(req.url!, 'http://back')
  req.resume().on('end', async () => {
    if (pathname === '/slow') await new Promise((resolve) => setTimeout(resolve, 100))
    if (pathname === '/fault') res.statusCode = 500
    const raw = req.rawHeaders.filter((name) => name.toLowerCase() === 'traceparent').length
    const rawStates = req.rawHeaders.filter((name) => name.toLowerCase() === 'tracestate').length
    const states = req.headersDistinct['tracestate']
    res.setHeader('content-type', 'application/json')
    const distinct = req.headersDistinct['traceparent']
    res.end(JSON.stringify({ traceparent, tracestate, raw, distinct, rawStates, states }))
  })
})
  .on('upgrade', ({ headers }, socket) => {
    const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64')
    const head = ['HTTP/1.1 101 Switching Protocols', 'upgrade: websocket', 'connection: upgrade']
    socket.write([...head, `sec-websocket-accept: ${accept}`, '', ''].join('\r\n'))
    const text = JSON.stringify({ traceparent: headers['traceparent'] })
    socket.end(Buffer.concat([Buffer.of(0x81, text.length), Buffer.from(text), Buffer.of(0x88, 0)]))
  })
  .listen(3000)
