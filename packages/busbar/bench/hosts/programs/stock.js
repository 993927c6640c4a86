/** Answers a POST of JSON with the same JSON. */
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

createServer((request, response) => {
  void json(request).then((input) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ at: 'far', input }))
  })
}).listen(Number(process.env.PORT ?? 0))
