import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, request, type RequestOptions } from 'node:http'
import { json } from 'node:stream/consumers'
import { offload } from 'busbar'
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

/** As a library of WebSocket does that has no client of its own. */
function byUpgrade(): Promise<unknown> {
  const headers = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-key': 'x' }
  return new Promise((resolve, reject) => {
    request(back, { headers })
      .on('upgrade', (_, socket, head) => {
        const chunks = [head]
        socket
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () => {
            socket.destroy()
            const all = Buffer.concat(chunks)
            resolve(JSON.parse(all.subarray(2, 2 + all[1]!).toString()))
          })
      })
      .on('error', reject)
      .end()
  })
}

function byWebSocket(): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(back.replace('http', 'ws'))
    socket.onmessage = ({ data }) => resolve(JSON.parse(data as string))
    socket.onerror = () => reject(new Error('the WebSocket has failed'))
  })
}

/** As OpenTelemetry's instrumentation of undici does. */
const addOwn = (message: unknown): void => {
  const { request } = message as { request: { addHeader(name: string, value: string): void } }
  for (const [name, value] of Object.entries({ traceparent: own, tracestate: 'own=1' })) request.addHeader(name, value)
}

async function byChannel(): Promise<unknown> {
  subscribe('undici:request:create', addOwn)
  try {
    return await (await fetch(back)).json()
  } finally {
    unsubscribe('undici:request:create', addOwn)
  }
}

const calls: Record<string, () => Promise<unknown>> = {
  '/fetch': async () => await (await fetch(back)).json(),
  '/post': async () => await (await fetch(back, { method: 'POST', body: 'x'.repeat(1000) })).json(),
  '/slow': async () => await (await fetch(`${back}slow`)).json(),
  '/slow-node': () => byNode({ agent: false, path: '/slow' }),
  '/slow-typed': async () => ({ price: await typed.slow() }),
  '/fault': async () => await (await fetch(`${back}fault`)).json(),
  '/node': () => byNode({ agent: false }),
  '/list': () => byNode({ agent: false, headers: ['host', 'back.internal', 'x-own', '1'] as never }),
  '/body': () => byNode({ method: 'POST' }, 'a body'),
  '/own': async () => await (await fetch(back, { headers: { traceparent: own } })).json(),
  '/own-list': () => byNode({ headers: ['host', 'back.internal', 'traceparent', own, 'tracestate', 'own=1'] as never }),
  '/own-node': () => byNode({ headers: { traceparent: own, tracestate: 'own=1' } }),
  '/own-channel': byChannel,
  '/upgrade': byUpgrade,
  '/websocket': byWebSocket,
  '/task': () => offload(new URL('./task.ts', import.meta.url), back),
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
