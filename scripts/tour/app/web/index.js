// The entry of the tour: an ordinary HTTP server that calls another one by its name.
import { createServer } from 'node:http'

createServer((request, response) => void answer(request, response)).listen(3000)

async function answer(request, response) {
  try {
    const stock = await fetch(`http://stock.internal${request.url}`)
    if (!stock.ok) throw new Error(`stock answered ${stock.status}`)
    response.setHeader('content-type', 'application/json').end(await stock.text())
  } catch (error) {
    response.writeHead(502).end(String(error))
  }
}
