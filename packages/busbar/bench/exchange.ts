/**
 * The cost of a call between two programs in one thread: `node packages/busbar/bench/exchange.ts
 * [pattern]`. Measures the CPU time of the thread, since the machine is shared, and checks every
 * answer. `--cpu-prof` shows where time is spent.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
// @ts-expect-error: it comes without types.
import express from 'express'
import fastify from 'fastify'
import type { LocalEndpoint } from '../src/mesh/routing/endpoint.ts'
import { tryOpenExchange } from '../src/accelerators/exchange/open-exchange.ts'
import type { ExchangeHandler, ExchangeRequest, ResponseHead } from '../src/mesh/http/exchange.ts'
import { TestEndpoint } from '../test/support/mesh/test-endpoint.ts'

interface Arm {
  readonly name: string
  readonly server: Server | Promise<Server>
  request(): ExchangeRequest
  readonly body: string
  readonly inFlight: number
  readonly calls: number
}

const json = '{"content":"from /live: 1"}'
const scope = { service: 'callee', hops: 1 }

const get = (): ExchangeRequest => ({
  method: 'GET',
  path: '/live',
  rawHeaders: ['host', 'callee.internal', 'connection', 'keep-alive'],
  body: null,
  streamed: false,
})

const post = (): ExchangeRequest => ({
  method: 'POST',
  path: '/live',
  rawHeaders: ['host', 'callee.internal', 'content-type', 'application/json', 'content-length', `${json.length}`],
  body: json,
  streamed: false,
})

const plain: RequestListener = (_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(json)
}

const arms: readonly Arm[] = [
  {
    name: 'node:http, 100 in flight',
    server: createServer(plain),
    request: get,
    body: json,
    inFlight: 100,
    calls: 600_000,
  },
  {
    name: 'node:http, one at a time',
    server: createServer(plain),
    request: get,
    body: json,
    inFlight: 1,
    calls: 200_000,
  },
  {
    name: 'node:http, 1,000 in flight',
    server: createServer(plain),
    request: get,
    body: json,
    inFlight: 1000,
    calls: 600_000,
  },
  { name: 'a JSON body, echoed', server: createServer(echo), request: post, body: json, inFlight: 100, calls: 200_000 },
  {
    name: 'ten chunks',
    server: createServer(tenChunks),
    request: get,
    body: json.repeat(10),
    inFlight: 100,
    calls: 60_000,
  },
  { name: 'Fastify 5', server: fastifyServer(), request: get, body: json, inFlight: 100, calls: 300_000 },
  { name: 'Express 5', server: createServer(expressApp()), request: get, body: json, inFlight: 100, calls: 150_000 },
]

async function measure(arm: Arm): Promise<void> {
  await using endpoint = new TestEndpoint('callee', await arm.server)
  if (!endpoint.server.listening) await once(endpoint.server, 'listening')
  await run(endpoint, arm, Math.ceil(arm.calls / 4))
  const before = process.threadCpuUsage()
  const began = performance.now()
  await run(endpoint, arm, arm.calls)
  const { user, system } = process.threadCpuUsage(before)
  const wall = ((performance.now() - began) * 1000) / arm.calls
  const cpu = (user + system) / arm.calls
  const rate = Math.round(1e6 / cpu).toLocaleString('en')
  console.log(`${arm.name.padEnd(28)} ${cpu.toFixed(2)} µs CPU a call (${rate}/s), ${wall.toFixed(2)} µs passed`)
}

function run(endpoint: LocalEndpoint, arm: Arm, calls: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let begun = 0
    let done = 0
    const next = (): void => {
      if (++done === calls) resolve()
      else if (begun < calls) begin()
    }
    const begin = (): void => {
      begun++
      const opened = tryOpenExchange(endpoint, arm.request(), scope, new Check(arm.body, next, reject))
      if (opened === undefined) reject(new Error('not exchangeable'))
    }
    while (begun < Math.min(arm.inFlight, calls)) begin()
  })
}

class Check implements ExchangeHandler {
  readonly #wanted: string
  readonly #next: () => void
  readonly #fail: (error: Error) => void
  #status = 0
  #body = ''

  constructor(wanted: string, next: () => void, fail: (error: Error) => void) {
    this.#wanted = wanted
    this.#next = next
    this.#fail = fail
  }

  onHead({ status }: ResponseHead): void {
    this.#status = status
  }

  onData(chunk: Uint8Array | string): boolean {
    this.#body += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    return true
  }

  onEnd(): void {
    if (this.#status !== 200 || this.#body !== this.#wanted)
      this.#fail(new Error(`wrong: ${this.#status} ${this.#body}`))
    else this.#next()
  }

  onError(error: Error): void {
    this.#fail(error)
  }
}

function echo(...[request, response]: Parameters<RequestListener>): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => response.end(Buffer.concat(chunks)))
}

function tenChunks(...[, response]: Parameters<RequestListener>): void {
  for (let n = 0; n < 10; n++) response.write(json)
  response.end()
}

async function fastifyServer(): Promise<Server> {
  const app = fastify()
  const schema = { response: { 200: { type: 'object', properties: { content: { type: 'string' } } } } }
  app.get('/live', { schema }, async () => ({ content: 'from /live: 1' }))
  await app.ready()
  return app.server
}

interface ExpressApp extends RequestListener {
  get(path: string, handler: (request: unknown, response: { json(body: object): void }) => void): void
}

function expressApp(): RequestListener {
  const app = (express as unknown as () => ExpressApp)()
  app.get('/live', (_, response) => response.json({ content: 'from /live: 1' }))
  return app
}

const pattern = new RegExp(process.argv[2] ?? '.')
for (const arm of arms.filter(({ name }) => pattern.test(name))) await measure(arm)
