/**
 * `GET /fibonacci/30` computes, `GET /hello` answers at once. `WAY` selects where it computes. Both
 * are in one program, since the question is how the first affects the second.
 */
import http, { type ServerResponse } from 'node:http'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createOffload } from 'busbar'
import { client } from 'busbar/client'
import { loadPeerPackage } from '../peer-package.ts'
import { computing } from './computing/contract.ts'
import fibonacci from './fibonacci.ts'

type Compute = (n: number) => Promise<number>

const { WAY = 'main', WORKERS = '1', PORT = '0' } = process.env
const compute = computeFor(WAY)

http
  .createServer((request, response) => {
    const [, name, n] = (request.url ?? '/').split('/')
    if (name === 'fibonacci') void answer(response, Number(n))
    else reply(response, 200, '{"hello":"world"}')
  })
  .listen(Number(PORT), '127.0.0.1')

async function answer(response: ServerResponse, n: number): Promise<void> {
  try {
    reply(response, 200, `{"fibonacci":${await compute(n)}}`)
  } catch (error) {
    reply(response, 500, (error as Error).message)
  }
}

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

function computeFor(way: string): Compute {
  if (way === 'main') return async (n) => fibonacci(n)
  if (way === 'worker') return inNewWorker
  if (way === 'piscina') return inPiscina()
  if (way === 'busbar') return inBusbar()
  if (way === 'busbar-service') return client(computing).fibonacci
  throw new Error(`there is no way "${way}"`)
}

function inNewWorker(n: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const worker = new Worker(new URL(`worker${extname(import.meta.url)}`, import.meta.url), { workerData: n })
  worker.once('message', resolve)
  worker.once('error', reject)
  return promise
}

interface Pool {
  run: (n: number) => Promise<number>
}

function inPiscina(): Compute {
  const { Piscina } = loadPeerPackage('piscina') as { Piscina: new (options: object) => Pool }
  const threads = Number(WORKERS)
  const filename = new URL(`fibonacci${extname(import.meta.url)}`, import.meta.url).href
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads })
  return (n) => pool.run(n)
}

function inBusbar(): Compute {
  const offload = createOffload({ threads: Number(WORKERS) })
  const task = new URL(`fibonacci${extname(import.meta.url)}`, import.meta.url)
  return (n) => offload<number>(task, n)
}
