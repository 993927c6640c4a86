/**
 * Misuses the channel between its worker and the supervisor. `/<deed>` answers with the outcome.
 */
import { writeSync, readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { once } from 'node:events'
import { serialize } from 'node:v8'
import * as threads from 'node:worker_threads'

const require = createRequire(import.meta.url)
const messages = [
  undefined,
  null,
  0,
  'x',
  [],
  {},
  { type: undefined },
  { type: 'log' },
  { type: 'log', records: [undefined] },
  { type: 'log', records: [{}] },
  { type: 'nothing' },
  { type: 'toString' },
  { type: 'failed' },
  { type: 'ready' },
  { type: 'fault' },
  { type: 'failed', error: { code: 'X' } },
  { type: 'started', service: 'nobody' },
  { type: 'taken' },
  { type: 'heartbeat' },
  { type: 'counters' },
  { type: 'counters', cells: new Uint32Array(5000) },
  { type: 'callAbandoned' },
  { type: 'unlinked' },
  { type: 'stopped' },
  { type: 'closed', service: {} },
  { cmd: 'NODE_HANDLE_NACK' },
]
const orders = [
  undefined,
  { type: 'stop', timeout: 0, quiet: 0, inOrder: false },
  { type: 'tls' },
  { type: 'init' },
  {},
]

function attempt(run) {
  try {
    run()
    return 'done'
  } catch (error) {
    return error.code ?? error.name
  }
}

const deeds = {
  pid: () => process.pid,
  'post to the parent port': () => {
    const ports = [threads, threads.default, require('worker_threads'), process.getBuiltinModule('worker_threads')]
    return ports.flatMap(({ parentPort }) => messages.map((message) => attempt(() => parentPort?.postMessage(message))))
  },
  'post to the parent port of an own thread': async () => {
    const code = 'for (const one of [undefined, { type: "log" }]) require("worker_threads").parentPort.postMessage(one)'
    const worker = new threads.Worker(code, { eval: true })
    await once(worker, 'exit')
  },
  'post to the main thread from an own thread': async () => {
    const code = `
      const { parentPort, postMessageToThread } = require('node:worker_threads')
      // Keeps the thread alive while it waits.
      setInterval(() => {}, 1000)
      postMessageToThread(0, { type: 'log' }).catch(() => {}).then(() => parentPort.postMessage('done'))`
    const worker = new threads.Worker(code, { eval: true })
    await once(worker, 'message')
    await worker.terminate()
  },
  // These include the links to other workers.
  'post to all ports that Node lists': () => {
    const ports = process._getActiveHandles().filter((handle) => handle instanceof threads.MessagePort)
    const others = [NaN, -1, 1e9, 1n, [1], ['x', 1], new Map(), new Uint8Array(8)]
    for (const port of ports)
      for (const one of [...messages, ...others]) if (typeof one !== 'string') port.postMessage(one)
  },
  'send to the parent': () => {
    const ways = ['send', '_send'].filter((name) => process[name] !== undefined)
    return ways.flatMap((name) => messages.map((message) => attempt(() => process[name](message))))
  },
  'give orders': () => {
    for (const event of ['message', 'internalMessage', 'disconnect'])
      for (const order of [...orders, { cmd: 'NODE_HANDLE' }, { cmd: 'NODE_HANDLE_NACK' }]) process.emit(event, order)
  },
  'hear orders': () => {
    const heard = []
    for (const event of ['message', 'internalMessage', 'disconnect']) {
      process.on(event, (message) => heard.push(message))
      process.emit(event, 'own')
    }
    return { heard, listeners: process.listenerCount('message') }
  },
  'take listeners off': () => {
    for (const event of ['message', 'internalMessage', 'disconnect']) {
      for (const listener of process.listeners(event)) process.off(event, listener)
      process.removeAllListeners(event)
    }
    process.removeAllListeners()
  },
  'close the channel': () => {
    attempt(() => process.disconnect?.())
    attempt(() => process.channel?.unref())
    process.connected = false
    process.channel = null
    return [process.connected, process.channel]
  },
  // Only in a process: threads share the descriptors of their process.
  'write what is no message': () => write(Buffer.from('0000000czzzzzzzzzzzz'.slice(0, 8), 'hex'), Buffer.alloc(12)),
  'write what is no message of Busbar': () => {
    const bytes = messages.slice(1).map((message) => serialize(message))
    for (const one of bytes) write(lengthOf(one), one)
  },
}

function lengthOf(bytes) {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return length
}

function write(...bytes) {
  const isSocket = (at) =>
    attempt(() => readlinkSync(`/proc/self/fd/${at}`)) === 'done' &&
    readlinkSync(`/proc/self/fd/${at}`).startsWith('socket:')
  if (process.env.CHANNEL !== undefined && isSocket(3)) writeSync(3, Buffer.concat(bytes))
}

const server = createServer(async (request, response) => {
  const deed = decodeURIComponent(request.url.slice(1))
  const result = deed === 'names' ? Object.keys(deeds) : ((await deeds[deed]?.()) ?? null)
  response.end(JSON.stringify(result))
})
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
