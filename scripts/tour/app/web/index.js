// The entry of the tour: an ordinary HTTP server that calls another one by its name.
import { createServer } from 'node:http'

createServer(async (request, response) => {
  try {
    const answer = await fetch(`http://stock.internal${request.url}`)
    if (!answer.ok) throw new Error(`stock answered ${answer.status}`)
    response.setHeader('content-type', 'application/json').end(await answer.text())
  } catch (error) {
    response.writeHead(502).end(String(error))
  }
}).listen(3000)
