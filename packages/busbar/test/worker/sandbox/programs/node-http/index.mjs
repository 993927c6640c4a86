import { createServer } from 'node:http'

const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ hello: 'node-http' }))
})
server.listen(3000, () => console.log('listening on', JSON.stringify(server.address())))
