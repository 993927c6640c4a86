// A command of Node that calls by name, on request or continuously.
import http from 'node:http'
import { callAll } from './calls.mjs'

const variables = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => name.endsWith('_URL')))

http
  .createServer(async (request, response) => {
    const { searchParams, pathname } = new URL(request.url, 'http://x')
    if (pathname.endsWith('/env'))
      return response.end(JSON.stringify({ variables: variables(), calls: process.env.BUSBAR_CALLS }))
    const url = searchParams.get('url')
    if (url === null) return response.end(JSON.stringify(await callAll('http://catalog.internal/item')))
    try {
      const answer = await fetch(url)
      response.writeHead(answer.status).end(await answer.text())
    } catch (error) {
      const { code, message } = error.cause ?? error
      response.writeHead(502).end(JSON.stringify({ code, message }))
    }
  })
  .listen(process.env.PORT, '127.0.0.1')
