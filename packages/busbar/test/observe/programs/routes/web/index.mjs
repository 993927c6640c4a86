// Calls the service and the path that its own path names: /call/items/7 is http://items.internal/7.
import { createServer } from 'node:http'

createServer(async (request, response) => {
  const [, service, path] = /^\/call\/([^/]+)(\/.*)$/.exec(request.url)
  const answer = await fetch(`http://${service}.internal${path}`, { method: request.method })
  response.writeHead(answer.status).end(await answer.text())
}).listen(3000)
