/** The sockets of a thread's connections, with and without `fresh-socket`. */
import { deepEqual, equal } from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { AcceleratorName } from '../../src/shared/accelerators.ts'
import { startPlain } from '../raw/placements.ts'
import { pollUntil, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

/** Answers with what its socket shows, then with the rest of what the client sent. */
const program = `
const { createServer } = require('node:http')
createServer((request, response) => {
  const { socket } = request
  socket.setKeepAlive(true).setNoDelay(true).setTimeout(60_000)
  const shown = ['allowHalfOpen', 'bytesWritten', 'connecting', 'destroyed', 'localAddress', 'localFamily', 'pending',
    'readableEncoding', 'readableHighWaterMark', 'readableObjectMode', 'readyState', 'remoteAddress', 'remoteFamily',
    'timeout', 'writableHighWaterMark', 'writableLength']
  const answer = Object.fromEntries(shown.map((name) => [name, socket[name]]))
  answer.type = socket.constructor.name
  answer.read = socket.bytesRead
  answer.ports = typeof socket.localPort + typeof socket.remotePort
  answer.listeners = Object.fromEntries(socket.eventNames().map((name) => [String(name), socket.listenerCount(name)]))
  request.on('data', () => {}).on('end', () => response.end(JSON.stringify(answer)))
}).listen(process.env.PORT ?? 3000, '127.0.0.1')
`

const ways: Readonly<Record<string, readonly AcceleratorName[]>> = {
  'fresh-socket': ['fresh-socket'],
  'no accelerators': [],
}

for (const [name, accelerators] of Object.entries(ways)) {
  test(`a program finds the socket that plain Node creates, with ${name}`, async () => {
    using folder = new TestFolder({ 'index.cjs': program })
    const file = folder.at('index.cjs')
    await using plain = await startPlain(file)
    await using app = await TestApp.start({ accelerators, services: { web: { file, run: 'shared' } } })
    const [expected, found] = await Promise.all([ask(plain.port), ask(app.port)])
    deepEqual({ ...found, listeners: undefined }, { ...expected, listeners: undefined })
    for (const event of ['timeout', 'data', 'error', 'drain', 'end'])
      equal(event in found.listeners, event in expected.listeners)
  })

  test(`a connection counts until it closes, with ${name}`, async () => {
    using folder = new TestFolder({ 'index.cjs': program })
    await using app = await TestApp.start({
      accelerators,
      services: { web: { file: folder.at('index.cjs'), run: 'shared' } },
    })
    const connections = (): number => app.running.workers[0]!.connections
    const client = connect({ port: app.port, host: '127.0.0.1' }).on('error', () => {})
    client.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n')
    await pollUntil(() => connections() === 1 && client.bytesRead > 0)
    client.resetAndDestroy()
    await pollUntil(() => connections() === 0)
  })
}

interface Shown {
  readonly listeners: Readonly<Record<string, number>>
}

/** Ends its side before the answer, as `allowHalfOpen` permits. */
async function ask(port: number): Promise<Shown> {
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  client.end('POST / HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody')
  const answer = await text(client)
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as Shown
}
