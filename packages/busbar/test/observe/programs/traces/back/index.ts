import { createServer } from 'node:http'

/** Answers with the context that it has got. */
createServer((req, res) => {
  const { traceparent, tracestate } = req.headers
  const { pathname } = new URL(req.url!, 'http://back')
  req.resume().on('end', async () => {
    if (pathname === '/slow') await new Promise((resolve) => setTimeout(resolve, 100))
    if (pathname === '/fault') res.statusCode = 500
    const raw = req.rawHeaders.filter((name) => name.toLowerCase() === 'traceparent').length
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ traceparent, tracestate, raw, distinct: req.headersDistinct['traceparent'] }))
  })
}).listen(3000)
