/**
 * Counts to `increments` in `WORKERS` threads with shared memory, and answers the total:
 * `GET /run?increments=20000000&tasks=500&shards=500`. Threads start before the first run.
 * `contention.go` does the same.
 */
import http, { type ServerResponse } from 'node:http'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { busbarCounterFor } from './busbar-counters.ts'
import { totalOf, type CountOrder } from './counters.ts'

const { WORKERS = '1', PORT = '0', WAY = 'atomic' } = process.env
const threads = Array.from(
  { length: Number(WORKERS) },
  () => new Worker(new URL(`thread${extname(import.meta.url)}`, import.meta.url), { workerData: WAY }),
)
for (const thread of threads)
  thread.on('error', (error) => {
    console.error(error)
    process.exit(1)
  })

http
  .createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const number = (name: string) => Number(searchParams.get(name))
    if (pathname !== '/run') response.end('ready')
    else void run(response, number('increments'), number('tasks'), number('shards'))
  })
  .listen(Number(PORT), '127.0.0.1')

async function run(response: ServerResponse, increments: number, tasks: number, shards: number): Promise<void> {
  const memory = new SharedArrayBuffer(128 * (shards + 1))
  const before = counted(memory, shards)
  const done = threads.map(
    (thread, index) =>
      new Promise((resolve) => {
        thread.once('message', resolve)
        const order: CountOrder = { memory, increments, tasks, shards, index, threads: threads.length }
        thread.postMessage(order)
      }),
  )
  await Promise.all(done)
  const body = `{"total":${(counted(memory, shards) - before) | 0}}`
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}

function counted(memory: SharedArrayBuffer, shards: number): number {
  return busbarCounterFor(WAY)?.total(shards) ?? totalOf(memory, WAY)
}
