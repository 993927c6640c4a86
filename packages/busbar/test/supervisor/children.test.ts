/** Whatever is started while a connection is open must not hold it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { TestApp } from '../support/app.ts'

const drops = `${import.meta.dirname}/programs/drops.js`
const api = `${import.meta.dirname}/programs/places/api.js`

/** Milliseconds after which a connection that was dropped counts as held. */
const patience = 10_000

for (const run of ['shared', 'thread', 'process'] as const)
  for (const stdio of ['ignore', 'pipe', 'inherit'])
    test(`a child that a program in a ${run} starts with stdio ${stdio} holds no connection`, async () => {
      await using app = await TestApp.start({ services: { drops: { file: drops, run } } })
      using client = new Client(app.port)
      const child = Number(await client.get(`/spawn?stdio=${stdio}`))
      try {
        await client.get('/')
        assert.ok(await client.isDropped())
      } finally {
        process.kill(child)
      }
    })

test('a child gets what a program names for it, and none of what it does not know of', async () => {
  await using app = await TestApp.start({ services: { drops } })
  using client = new Client(app.port)
  assert.deepEqual(JSON.parse(await client.get('/stdio')), [true, true, true, false, true])
  assert.equal(JSON.parse(await client.get('/fork')), 'heard')
  if (process.platform === 'linux') assert.equal(JSON.parse(await client.get('/exec')), 0)
})

test('a process and a command that are started anew hold no connection', async () => {
  await using app = await TestApp.start({
    services: {
      drops,
      own: { file: api, run: 'process' },
      command: {
        file: api,
        kind: 'command',
        run: 'process',
        entry: { file: process.execPath, args: [api], nodeOptions: [], foundBy: 'command' },
      },
    },
  })
  using client = new Client(app.port)
  await client.get('/')
  await app.running.restart(undefined, ['own', 'command'])
  assert.ok(await client.isDropped())
})

/** One connection, kept alive. */
class Client implements Disposable {
  readonly #socket: Socket

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').on('error', () => {})
  }

  /** The body of an answer that comes in one piece. */
  async get(path: string): Promise<string> {
    this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: here\r\n\r\n`)
    const [answer] = (await once(this.#socket, 'data')) as [Buffer]
    return answer.toString().split('\r\n\r\n')[1]!
  }

  async isDropped(): Promise<boolean> {
    this.#socket.write('GET /drop HTTP/1.1\r\nhost: here\r\n\r\n')
    return await once(this.#socket, 'close', { signal: AbortSignal.timeout(patience) }).then(
      () => true,
      () => false,
    )
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}
