/**
 * The cost of an HTTP request to another thread and to another process, against undici over TCP:
 * `node packages/busbar/bench/request-link.ts [seconds per part]`. Reports the CPU time of both
 * sides, since the machine is shared. Rounds are interleaved, and every answer is checked.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread, MessageChannel, parentPort, Worker, workerData, type MessagePort } from 'node:worker_threads'
import { Pool, request as undiciRequest } from 'undici8'
import { answerRequests } from '../src/mesh/http/answer-requests.ts'
import { attachment as exchanges } from '../src/accelerators/exchange/index.ts'
import type { ExchangeHandler, ExchangeRequest } from '../src/mesh/http/exchange.ts'
import type { CallHandler } from '../src/mesh/links/link.ts'
import { createLink } from '../src/mesh/links/live-link.ts'
import type { PacketTransport } from '../src/mesh/links/packet-transport.ts'
import { startMesh } from '../src/mesh/mesh.ts'
import { Router } from '../src/mesh/routing/router.ts'
import { threadTransport } from '../src/mesh/transports/thread.ts'
import { dialUnix, listenUnix } from '../src/mesh/transports/unix.ts'
import type { RemoteEndpoint } from '../src/mesh/routing/endpoint.ts'
import { TestEndpoint } from '../test/support/mesh/test-endpoint.ts'

const answer = '{"content":"from /live: 1"}'
const inFlight = 64

interface Arm {
  readonly name: string
  readonly call: () => Promise<string>
  /** CPU microseconds of the callee so far. Undefined for a thread of this process. */
  readonly calleeTime: (() => Promise<number>) | undefined
}

if (process.argv[2] === 'callee') await callInProcess(process.argv[3])
else if (isMainThread) await main(Number(process.argv[2] ?? 2))
else answerOver(threadTransport((workerData as { link: MessagePort }).link))

async function main(seconds: number): Promise<void> {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(new URL(import.meta.url), { workerData: { link: port2 }, transferList: [port2] })
  const folder = await mkdtemp(join(tmpdir(), 'busbar-bench-'))
  const child = fork(new URL(import.meta.url), ['callee', join(folder, 'link')])
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const { transport } = await dialUnix(join(folder, 'link'), { worker: 1, secret: 's' })
  const endpoints = { thread: endpointOf('thread', threadTransport(port1)), process: endpointOf('process', transport) }
  const router = new Router(Object.keys(endpoints))
  for (const endpoint of Object.values(endpoints)) router.addRemote(endpoint)
  await using _mesh = await startMesh({ router, maxHops: 8, exchanges })

  const calleeTime = async (): Promise<number> => {
    child.send('time')
    const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage]
    return user + system
  }
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 16 })
  const arms: Arm[] = [
    {
      name: 'undici, TCP, a process',
      call: async () => bodyOf(pool.request({ path: '/', method: 'GET' })),
      calleeTime,
    },
  ]
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const at = name === 'thread' ? undefined : calleeTime
    arms.push(
      { name: `exchange, a ${name}`, call: () => exchange(endpoint), calleeTime: at },
      {
        name: `undici.request, a ${name}`,
        call: () => bodyOf(undiciRequest(`http://${name}.internal/`)),
        calleeTime: at,
      },
      { name: `fetch, a ${name}`, call: async () => (await fetch(`http://${name}.internal/`)).text(), calleeTime: at },
    )
  }
  for (let round = 0; round < 3; round++) for (const arm of arms) await measure(arm, seconds)
  await pool.close()
  for (const { link } of Object.values(endpoints)) link.close({ code: 'CALL_ABORTED', message: 'over' })
  await worker.terminate()
  child.kill()
  await rm(folder, { recursive: true })
}

async function measure({ name, call, calleeTime }: Arm, seconds: number): Promise<void> {
  await load(call, 0.5)
  const theirs = await calleeTime?.()
  const before = process.cpuUsage()
  const began = performance.now()
  const calls = await load(call, seconds)
  const { user, system } = process.cpuUsage(before)
  const rate = Math.round(calls / ((performance.now() - began) / 1000))
  const callee = theirs === undefined ? 0 : (await calleeTime!()) - theirs
  const cpu = ((user + system + callee) / calls).toFixed(1)
  console.log(`${name.padEnd(28)} ${cpu.padStart(6)} µs CPU a call, ${rate.toLocaleString('en').padStart(8)} calls/s`)
}

async function load(call: () => Promise<string>, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000
  let calls = 0
  const one = async (): Promise<void> => {
    for (; performance.now() < end; calls++) assert.equal(await call(), answer)
  }
  await Promise.all(Array.from({ length: inFlight }, one))
  return calls
}

async function bodyOf(answered: Promise<{ body: { text(): Promise<string> } }>): Promise<string> {
  return await (await answered).body.text()
}

function exchange(endpoint: RemoteEndpoint): Promise<string> {
  const rawHeaders = ['host', 'callee.internal', 'connection', 'keep-alive']
  const request: ExchangeRequest = { method: 'GET', path: '/', rawHeaders, body: null, streamed: false }
  return new Promise((resolve, reject) => {
    let body = ''
    const handler: ExchangeHandler = {
      onHead() {},
      onData: (chunk) => ((body += chunk as string), true),
      onEnd: () => resolve(body),
      onError: reject,
    }
    exchanges.open(endpoint, request, { service: endpoint.service, hops: 1 }, handler)
  })
}

function endpointOf(service: string, transport: PacketTransport): RemoteEndpoint {
  const link = createLink(transport, { peer: 2, answer: nobody })
  return { at: 'link', service, worker: 2, index: 0, state: 'serving', link, typed: false }
}

function nobody(...[, , , channel]: Parameters<CallHandler>): ReturnType<CallHandler> {
  channel.fail({ code: 'SERVICE_UNAVAILABLE', message: 'nobody is called here' })
  return {}
}

/** Serves the program as an instance of either service. */
function answerOver(transport: PacketTransport): void {
  const router = new Router(['thread', 'process'])
  for (const service of router.names) router.add(new TestEndpoint(service, program()))
  createLink(transport, { peer: 1, answer: answerRequests({ router, maxHops: 8, meter: undefined, exchanges }) })
  parentPort?.unref()
}

async function callInProcess(path = ''): Promise<void> {
  await listenUnix(path, { worker: 2, secret: 's' }, ({ transport }) => answerOver(transport))
  const server = program().listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.on('message', () => process.send!(process.cpuUsage()))
  process.send!({ port: (server.address() as AddressInfo).port })
}

function program(): Server {
  return createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(answer)
  })
}
