// Calls another service. On request it cuts the sockets of its worker's links, which no program
// should do.
import { createServer } from 'node:http'
import { Socket } from 'node:net'

const isLink = (one) => one instanceof Socket && one._handle?.constructor.name === 'Pipe' && one._handle.fd > 2

createServer(async (request, response) => {
  if (request.url === '/cut') {
    const links = process._getActiveHandles().filter(isLink)
    for (const link of links) link.destroy()
    return response.end(String(links.length))
  }
  try {
    const answer = await fetch(`http://counts.internal${request.url}`, { method: request.method })
    response.end(await answer.text())
  } catch (error) {
    response.writeHead(502).end(error.cause?.code ?? error.code ?? error.message)
  }
}).listen(3000)
