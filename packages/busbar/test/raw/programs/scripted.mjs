// Runs the script in the path of a request. Without a valid script the response is 200.
import { createServer } from 'node:http'

const server = createServer((request, response) => run(request, request.socket, response))
server.on('upgrade', (request, socket) => {
  socket.on('end', () => socket.end()).resume()
  void run(request, socket, undefined)
})
// Closes the connection in place of Node's own response to a malformed request.
server.on('clientError', (_error, socket) => socket.destroy())
server.listen(process.env.PORT ?? 3000)

async function run(request, socket, response) {
  for (const stream of [request, socket, response]) stream?.on('error', () => {})
  request.resume()
  const script = stepsOf(request.url)
  if (script === undefined) {
    if (response === undefined) socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
    else response.end('ok')
    return
  }
  for (const [act, ...values] of script) {
    try {
      await acts[act]({ socket, response }, ...values)
    } catch {
      // Node refuses some responses. That is intended here.
    }
  }
}

function stepsOf(url) {
  try {
    const steps = JSON.parse(Buffer.from(/([\w-]*)$/.exec(url)[1], 'base64url').toString())
    return Array.isArray(steps) ? steps : undefined
  } catch {
    return undefined
  }
}

const acts = {
  raw: ({ socket }, text) => void socket.write(Buffer.from(text, 'latin1')),
  wait: () => new Promise((resolve) => setTimeout(resolve, 2)),
  end: ({ socket }) => void socket.end(),
  destroy: ({ socket }) => void socket.destroy(),
  reset: ({ socket }) => void socket.resetAndDestroy(),
  break: ({ response }) => void response.destroy(),
  nothing() {},
  finish: ({ response, socket }) => void (response ?? socket).end(),
  status({ response }, status, reason) {
    response.statusCode = status
    if (reason !== '') response.statusMessage = reason
  },
  head: ({ response }, status, fields) => void response.writeHead(status, fields),
  field: ({ response }, name, value) => void response.setHeader(name, value),
  write: ({ response }, text) => void response.write(text, 'latin1'),
  trailers: ({ response }, name, value) => void response.addTrailers({ [name]: value }),
  hints: ({ response }, link, more) => void response.writeEarlyHints({ link, 'x-more': more }),
  continue: ({ response }) => void response.writeContinue(),
  processing: ({ response }) => void response.writeProcessing(),
  flush: ({ response }) => void response.flushHeaders(),
  undated: ({ response }) => void (response.sendDate = false),
  keepless: ({ response }) => void (response.shouldKeepAlive = false),
}
