/** Calls a URL for a while, as a program does that knows nothing of Busbar. */
import { createServer } from 'node:http'
import { Agent, request } from 'undici8'
import { connections, order, rate } from '../rate.ts'

const headers = { 'content-type': 'application/json' }
const agents = { limited: new Agent({ connections }), own: new Agent() }

createServer((incoming, response) => {
  const { searchParams } = new URL(incoming.url, 'http://localhost')
  const url = searchParams.get('url')
  const dispatcher = agents[searchParams.get('agent')]
  const call = async () => {
    const { body } = await request(url, { dispatcher, method: 'POST', headers, body: JSON.stringify(order) })
    return await body.json()
  }
  void rate(call, Number(searchParams.get('duration'))).then(
    (perSecond) => response.end(String(perSecond)),
    (error) => response.writeHead(500).end(String(error)),
  )
}).listen(Number(process.env.PORT ?? 0))
