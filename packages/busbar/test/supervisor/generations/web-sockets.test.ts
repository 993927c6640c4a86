import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/** Echoes after a moment, so that there are always messages that are not echoed yet. */
const echo = `
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'
const server = createServer((request, response) => response.end('plain'))
new WebSocketServer({ server }).on('connection', (socket) => {
  socket.on('message', (data, isBinary) => setTimeout(() => socket.send(data, { binary: isBinary }), 5))
})
server.listen(process.env.PORT ?? 3000)`

/** Closes its WebSockets in its own way when it stops, and keeps which codes it has got back. */
const own = `
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'
const server = createServer((request, response) => response.end('plain'))
const sockets = new WebSocketServer({ server })
const codes = process.env.CODES
sockets.on('connection', (socket) => {
  socket.on('message', (data) => socket.send(data))
  socket.on('close', (code) => appendFileSync(codes, String(code)))
})
process.on('SIGTERM', () => {
  for (const socket of sockets.clients) socket.close(4321, 'mine')
  server.close()
})
server.listen(process.env.PORT ?? 3000)`

/** Sends numbers, connects again when it is closed, and goes on after the last number echoed. */
class SequenceClient {
  readonly codes: number[] = []
  readonly #url: string
  readonly #ended = Promise.withResolvers<void>()
  #socket: WebSocket | undefined
  #echoed = 0
  #isOver = false

  constructor(url: string) {
    this.#url = url
    this.#connect()
  }

  get echoed(): number {
    return this.#echoed
  }

  async untilEchoed(number: number): Promise<void> {
    while (this.#echoed < number) await new Promise((resolve) => setTimeout(resolve, 2))
  }

  async end(): Promise<void> {
    this.#isOver = true
    this.#socket!.close(1000)
    await this.#ended.promise
  }

  #connect(): void {
    const socket = (this.#socket = new WebSocket(this.#url))
    let sent = this.#echoed
    const send = (): void => socket.send(String(++sent))
    socket.addEventListener('open', () => [1, 2, 3].forEach(send))
    socket.addEventListener('message', ({ data }) => {
      assert.equal(Number(data), ++this.#echoed)
      if (!this.#isOver) send()
    })
    socket.addEventListener('close', ({ code }) => {
      if (this.#isOver) return this.#ended.resolve()
      this.codes.push(code)
      this.#connect()
    })
  }
}

const placements = [
  ['shared worker', { path: './echo.mjs', run: 'shared' }],
  ['thread', { path: './echo.mjs', run: 'thread' }],
  ['process', { path: './echo.mjs', run: 'process' }],
  ['command', { command: `${process.execPath} echo.mjs`, path: '.' }],
] as const

function appFolder(echoes: object, webSocketDrain = 100): TestFolder {
  const folder = new TestFolder({
    'echo.mjs': echo,
    'busbar.config.json': {
      gateway: { port: 0, routes: { '/echo': 'echo' } },
      limits: { webSocketDrain },
      services: { echo: echoes, other: { path: './echo.mjs', run: 'thread' } },
    },
  })
  symlinkSync(dirname(dirname(createRequire(import.meta.url).resolve('ws/package.json'))), folder.at('node_modules'))
  return folder
}

for (const [where, placement] of placements) {
  test(`WebSockets of a service in a ${where} end with 1012, and lose no message that was echoed`, async () => {
    using folder = appFolder(placement)
    const app = await loadApp(folder.path)
    await using testApp = await TestApp.startLoaded(app, { load: () => loadApp(folder.path), timing: { quiet: 50 } })
    const clients = Array.from({ length: 4 }, () => new SequenceClient(`${testApp.url.replace('http', 'ws')}/echo`))
    await Promise.all(clients.map((client) => client.untilEchoed(5)))
    for (let round = 1; round <= 2; round++) {
      await testApp.running.reload()
      const before = clients.map(({ echoed }) => echoed)
      await Promise.all(clients.map((client, index) => client.untilEchoed(before[index]! + 20)))
    }
    await testApp.running.reload('echo')
    await Promise.all(clients.map((client) => client.end()))
    const codes = clients.flatMap((client) => client.codes)
    assert.ok(codes.length >= 4, codes.join())
    assert.deepEqual(new Set(codes), new Set([1012]))
  })

  // A command closes its own in its own way.
  if ('path' in placement && !('command' in placement))
    test(`WebSockets of a service in a ${where} end with 1001 when the app stops`, async () => {
      using folder = appFolder(placement)
      await using app = await TestApp.startLoaded(await loadApp(folder.path), { timing: { quiet: 50 } })
      const socket = new WebSocket(`${app.url.replace('http', 'ws')}/echo`)
      const closed = once(socket, 'close') as Promise<[{ code: number }]>
      // It sends whenever it can, so that the service never falls silent by itself.
      socket.addEventListener('open', () => socket.send('1'))
      socket.addEventListener('message', () => socket.send('1'))
      await once(socket, 'message')
      await app.running.stop()
      assert.equal((await closed)[0].code, 1001)
    })
  if ('path' in placement && !('command' in placement))
    test(`a service in a ${where} closes its WebSockets with a code of its own when the app stops`, async () => {
      using folder = appFolder(placement, 60_000)
      folder.write('echo.mjs', own)
      const codes = folder.at('codes')
      const loaded = await loadApp(folder.path)
      const services = loaded.services.map((one) => ({ ...one, env: { ...one.env, CODES: codes } }))
      await using app = await TestApp.startLoaded({ ...loaded, services }, { timing: { quiet: 50 } })
      const socket = new WebSocket(`${app.url.replace('http', 'ws')}/echo`)
      const closed = once(socket, 'close') as Promise<[{ code: number }]>
      socket.addEventListener('open', () => socket.send('1'))
      await once(socket, 'message')
      await app.running.stop()
      assert.equal((await closed)[0].code, 4321)
      assert.equal(readFileSync(codes, 'utf8'), '4321')
    })
}
