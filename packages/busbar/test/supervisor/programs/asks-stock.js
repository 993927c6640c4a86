import { createServer } from 'node:http'

createServer(async (request, response) => {
  try {
    response.end(await (await fetch(`http://stock.internal${request.url}`)).text())
  } catch {
    response.writeHead(502).end('no stock')
  }
}).listen(3000)
