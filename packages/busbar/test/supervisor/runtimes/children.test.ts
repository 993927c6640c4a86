/** A process that is started while a connection is open must not inherit it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'

const drops = `${import.meta.dirname}/programs/drops.js`
const api = `${dirname(import.meta.dirname)}/programs/placements/api.js`

/** Milliseconds after which a dropped connection that is still open counts as inherited. */
const inheritedAfter = 10_000

for (const run of ['shared', 'thread', 'process'] as const)
  for (const stdio of ['ignore', 'pipe', 'inherit'])
    test(`a child that a program in a ${run} starts with stdio ${stdio} inherits no connection`, async () => {
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

test('a child inherits only the descriptors that a program passes to it', async () => {
  await using app = await TestApp.start({ services: { drops } })
  using client = new Client(app.port)
  assert.deepEqual(JSON.parse(await client.get('/stdio')), [true, true, true, false, true])
  assert.equal(JSON.parse(await client.get('/fork')), 'heard')
  if (process.platform === 'linux') assert.equal(JSON.parse(await client.get('/exec')), 0)
})

test('a restarted process and a restarted command inherit no connection', async () => {
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
  await app.running.replace(undefined, ['own', 'command'])
  assert.ok(await client.isDropped())
})

/** One keep-alive connection. */
class Client implements Disposable {
  readonly #socket: Socket

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').on('error', () => {})
  }

  /** The body of a response that arrives in one chunk. */
  async get(path: string): Promise<string> {
    this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: here\r\n\r\n`)
    const [answer] = (await once(this.#socket, 'data')) as [Buffer]
    return answer.toString().split('\r\n\r\n')[1]!
  }

  async isDropped(): Promise<boolean> {
    this.#socket.write('GET /drop HTTP/1.1\r\nhost: here\r\n\r\n')
    return await once(this.#socket, 'close', { signal: AbortSignal.timeout(inheritedAfter) }).then(
      () => true,
      () => false,
    )
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}
