import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

interface Greeting {
  hello: string
}

function answer(_request: IncomingMessage, response: ServerResponse): void {
  const greeting: Greeting = { hello: 'typescript' }
  response.end(JSON.stringify(greeting))
}

if (import.meta.main) createServer(answer).listen(3000)
