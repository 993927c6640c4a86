import { createServer, request, type RequestOptions } from 'node:http'
import { json } from 'node:stream/consumers'
import { client } from 'busbar/client'
import { prices } from '../prices/contract.ts'

const typed = client(prices)
const back = 'http://back.internal/'

function byNode(options: RequestOptions, body?: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request(back, options, (response) => resolve(json(response)))
      .on('error', reject)
      .end(body)
  })
}

const calls: Record<string, () => Promise<unknown>> = {
  '/fetch': async () => await (await fetch(back)).json(),
  '/post': async () => await (await fetch(back, { method: 'POST', body: 'x'.repeat(1000) })).json(),
  '/slow': async () => await (await fetch(`${back}slow`)).json(),
  '/fault': async () => await (await fetch(`${back}fault`)).json(),
  '/node': () => byNode({ agent: false }),
  '/list': () => byNode({ agent: false, headers: ['host', 'back.internal', 'x-own', '1'] as never }),
  '/body': () => byNode({ method: 'POST' }, 'a body'),
  '/own': async () => await (await fetch(back, { headers: { traceparent: own } })).json(),
  '/typed': async () => JSON.parse(await typed.price()) as unknown,
}

/** A program may have a trace of its own. */
const own = '00-11111111111111111111111111111111-2222222222222222-01'

// Not an async listener: the call is made in an event of the request.
createServer((req, res) => {
  req.setEncoding('utf8')
  req.on('data', () => {})
  req.on('end', () => {
    calls[new URL(req.url!, 'http://front').pathname]!().then(
      (seen) => res.end(JSON.stringify(seen)),
      (error: Error) => res.writeHead(500).end(error.message),
    )
  })
}).listen(3000)
