/**
 * A service with the fault `FAULT` in one of several hundred requests. It answers the others with
 * `hello`, and listens on `PORT` in `WORKERS` threads, after `SLOW`
 * milliseconds.
 */
import { once } from 'node:events'
import http from 'node:http'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'

const { PORT = '0', FAULT = 'none', EVERY = '1000', WORKERS = '1', DELAY = '0', COMPRESS, SLOW } = process.env
const body = JSON.stringify({ hello: 'world', filler: 'x'.repeat(200) })
let count = 0

function fault(request: http.IncomingMessage, response: http.ServerResponse): boolean {
  switch (FAULT) {
    case 'status':
      response.statusCode = 500
      return false
    case 'byte':
      response.end(body.slice(0, -1))
      return true
    case 'truncate':
      response.setHeader('content-length', Buffer.byteLength(body))
      response.write(body.slice(0, -1), () => request.socket.end())
      return true
    case 'stall':
      return true
    case 'reset':
      request.socket.resetAndDestroy()
      return true
    case 'type':
      response.setHeader('content-type', 'application/json; charset=utf-8')
      return false
    case 'extra':
      response.setHeader('x-cache', 'miss')
      return false
    case 'exit':
      process.exit(7)
  }
  return false
}

function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
  response.setHeader('content-type', 'application/json')
  if (++count % Number(EVERY) === 0 && fault(request, response)) return
  if (FAULT === 'header') response.setHeader('x-powered-by', 'a fault')
  if (FAULT === 'compress' || COMPRESS === 'yes') {
    response.setHeader('content-encoding', 'gzip')
    response.end(gzipSync(body))
  } else if (Number(DELAY) > 0) setTimeout(() => response.end(body), Number(DELAY))
  else response.end(body)
}

const listen = (): http.Server =>
  http.createServer(answer).listen({ port: Number(PORT), host: '127.0.0.1', reusePort: Number(WORKERS) > 1 })

// The main thread comes last: once it answers, connections are spread over all of them.
if (!isMainThread) listen().once('listening', () => parentPort!.postMessage('listens'))
else {
  const others = Array.from({ length: Number(WORKERS) - 1 }, () => new Worker(new URL(import.meta.url)))
  await Promise.all(others.map((worker) => once(worker, 'message')))
  if (SLOW === undefined) listen()
  else setTimeout(listen, Number(SLOW))
}
