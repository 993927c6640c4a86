/**
 * Typed calls to another thread and another process, against the bare channel and HTTP: `node
 * bench/typed-link.ts [seconds per part]`. Checks the answers first. Rounds are interleaved,
 * medians are printed.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, type MessagePort, Worker, isMainThread, workerData } from 'node:worker_threads'
import { Pool } from 'undici8'
import { client } from '../src/contract/client-entry.ts'
import { startHost } from '../src/contract/host/typed-host.ts'
import { fn, service, type } from '../src/contract/index.ts'
import type { LocalEndpoint } from '../src/mesh/routing/endpoint.ts'
import { answerLinkCalls } from '../src/mesh/mesh.ts'
import { Peers } from '../src/mesh/peers.ts'
import { Router } from '../src/mesh/routing/router.ts'
import { type BegunCallsAccess, newBegunCalls } from '../src/shared/calls/begun-calls.ts'
import type { LinkSetup } from '../src/shared/control-messages.ts'
import { CallContexts } from '../src/mesh/typed/call-contexts.ts'
import { offerTypedCalls } from '../src/mesh/typed/mesh-transport.ts'

interface Item {
  readonly id: number
  readonly name: string
  readonly price: number
  readonly tags: readonly string[]
}

const contract = service('bench', { get: fn({ input: type<Item>(), output: type<Item>() }) })
const instance = { name: 'bench', typed: true, index: 0 } as const

function item(id: number): Item {
  return { id, name: `lamp number ${id}`, price: 12.5, tags: ['hall', 'brass', 'sale'] }
}

if (process.argv[2] === 'callee') await callee(process.argv[3]!)
else if (isMainThread) await main(Number(process.argv[2] ?? 1))
else await thread(workerData as ThreadEnds)

interface ThreadEnds {
  readonly raw: MessagePort
  readonly link: MessagePort
  readonly begun: BegunCallsAccess
}

async function main(seconds: number): Promise<void> {
  const raw = new MessageChannel()
  const link = new MessageChannel()
  const [begun, begunThere] = newBegunCalls()
  const ports: ThreadEnds = { raw: raw.port2, link: link.port2, begun: begunThere }
  const worker = new Worker(new URL(import.meta.url), { workerData: ports, transferList: [raw.port2, link.port2] })
  const folder = await mkdtemp(join(tmpdir(), 'busbar-bench-'))
  const path = join(folder, 'link')
  const child = fork(new URL(import.meta.url), ['callee', path])
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]

  const byThread = joined({ kind: 'thread', port: link.port1, begun })
  const byUnix = joined({ kind: 'unix', path })
  offerTypedCalls(byThread.mesh)
  const typedThread = client(contract)
  assert.deepEqual(await typedThread.get(item(1)), item(1))

  const rawCall = batched(raw.port1)
  assert.deepEqual(await rawCall(item(1)), item(1))
  const one: Record<string, number[]> = {}
  const measure = async (name: string, flights: number, call: (at: number) => Promise<unknown>): Promise<void> => {
    await rate(0.2, flights, call)
    ;(one[`${name}, ${flights} in flight`] ??= []).push(await rate(seconds, flights, call))
  }
  for (let round = 0; round < 3; round++)
    for (const flights of [1, 128]) {
      await measure('raw batched MessagePort', flights, (at) => rawCall(item(at)))
      await measure('typed calls to a thread', flights, (at) => typedThread.get(item(at)))
    }
  await byThread.peers.close({ code: 'CALL_ABORTED', message: 'over' })
  raw.port1.close()
  await worker.terminate()

  offerTypedCalls(byUnix.mesh)
  const typedUnix = client(contract)
  assert.deepEqual(await typedUnix.get(item(1)), item(1))
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 16 })
  const http = async (at: number): Promise<unknown> => {
    const { body } = await pool.request({
      path: '/',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(item(at)),
    })
    return await body.json()
  }
  assert.deepEqual(await http(1), item(1))
  for (let round = 0; round < 3; round++) {
    await measure('undici over TCP to a process', 64, http)
    await measure('typed calls to a process', 64, (at) => typedUnix.get(item(at)))
  }
  for (const [name, rates] of Object.entries(one))
    console.log(`${name.padEnd(44)} ${median(rates).toFixed(0).padStart(8)} calls/s`)
  await pool.close()
  await byUnix.peers.close({ code: 'CALL_ABORTED', message: 'over' })
  child.kill()
  await rm(folder, { recursive: true, force: true })
}

function joined(setup: LinkSetup): { mesh: Parameters<typeof offerTypedCalls>[0]; peers: Peers } {
  const router = new Router(['bench'])
  const peers = new Peers({ worker: 1, secret: 's', listenAt: undefined, router, answer: () => ({}) })
  peers.join({ worker: 2, label: 'callee', services: [instance], row: undefined, link: 1, setup })
  return { mesh: { router, maxHops: 16, validate: 'always' }, peers }
}

async function rate(seconds: number, flights: number, call: (at: number) => Promise<unknown>): Promise<number> {
  const began = performance.now()
  const until = began + seconds * 1000
  let calls = 0
  const flight = async (): Promise<void> => {
    while (performance.now() < until) await call(calls++)
  }
  await Promise.all(Array.from({ length: flights }, flight))
  return (calls * 1000) / (performance.now() - began)
}

/** The best case of a port: one JSON string per turn and direction. */
function batched(port: MessagePort): (value: unknown) => Promise<unknown> {
  const waiting = new Map<number, (value: unknown) => void>()
  const post = outgoing(port)
  let last = 0
  port.on('message', (text: string) => {
    for (const [id, value] of JSON.parse(text) as [number, unknown][]) {
      waiting.get(id)!(value)
      waiting.delete(id)
    }
  })
  return (value) =>
    new Promise((resolve) => {
      waiting.set(++last, resolve)
      post([last, value])
    })
}

function outgoing(port: MessagePort): (frame: unknown) => void {
  let frames: unknown[] = []
  return (frame) => {
    if (frames.push(frame) > 1) return
    process.nextTick(() => {
      port.postMessage(JSON.stringify(frames))
      frames = []
    })
  }
}

async function peersOf(listenAt?: string): Promise<Peers> {
  const contexts = new CallContexts('bench')
  const options = { name: 'bench', log: console, clone: false, maxInFlight: 10_000, client, enter: contexts.enter }
  const typed = await startHost(contract.implement({ get: async (input) => input }), options)
  const router = new Router(['bench'])
  const enter: LocalEndpoint['enter'] = (scope, run) => contexts.enterScope(scope, run)
  router.add({ at: 'here', service: 'bench', server: createServer(), typed, state: 'serving', enter })
  const answer = answerLinkCalls({ router, maxHops: 16, validate: 'always' })
  return new Peers({ worker: 2, secret: 's', listenAt, router, answer })
}

async function thread({ raw, link, begun }: ThreadEnds): Promise<void> {
  const post = outgoing(raw)
  const echo = async (frame: unknown): Promise<void> => post(frame)
  raw.on('message', (text: string) => {
    for (const frame of JSON.parse(text) as unknown[]) void echo(frame)
  })
  const peers = await peersOf()
  peers.join({
    worker: 1,
    label: 'caller',
    services: [],
    row: undefined,
    link: 1,
    setup: { kind: 'thread', port: link, begun },
  })
}

async function callee(path: string): Promise<void> {
  const peers = await peersOf(path)
  await peers.listen()
  peers.join({ worker: 1, label: 'caller', services: [], row: undefined, link: 1, setup: { kind: 'accept' } })
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      response.writeHead(200, headers).end(text)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  process.send!({ port: (server.address() as { port: number }).port })
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1]!
}
