import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { ask, ClientLoops } from '../../support/http/client-loops.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const runs = ['shared', 'thread', 'process'] as const
type Run = (typeof runs)[number]

/** An edit of the shared service also replaces the worker of the gateway. */
const edits: readonly Run[] = ['shared', 'thread', 'process', 'shared', 'thread']

/** Answers slowly, so that requests are in flight whenever a worker is replaced. */
function program(version: number): string {
  return `require('node:http')
    .createServer((request, response) => setTimeout(() => response.end('version ${version}'), 50))
    .listen(3000)`
}

test('no request fails while edits replace services of all placements', async () => {
  using folder = new TestFolder({
    'busbar.config.json': {
      gateway: { port: 0 },
      services: Object.fromEntries(runs.map((run) => [run, { path: `./${run}`, run }])),
    },
    ...Object.fromEntries(runs.map((run) => [`${run}/index.js`, program(0)])),
  })
  await using busbar = new BusbarProcess(['dev', folder.path])
  const { port } = new URL(await busbar.url())
  await busbar.message('watching')
  using stack = new DisposableStack()
  const clients = [true, true, false, false].map((keepAlive) => stack.use(new Client(port, keepAlive)))
  await using loops = new ClientLoops(clients.length, async (client) => await clients[client]!.ask())
  for (const [edit, run] of edits.entries()) {
    folder.write(`${run}/index.js`, program(edit + 1))
    const seen = `${run}: version ${edit + 1}`
    await loops.until(() => clients.every((client) => client.seen.has(seen)))
  }
  assert.deepEqual(await loops.stop(), [])
  for (const { keepAlive, connections, asked } of clients)
    assert.ok(keepAlive ? connections < asked : connections === asked)
})

/** Sends one request at a time to the services in turn, with or without keep-alive. */
class Client implements Disposable {
  readonly keepAlive: boolean
  readonly #port: string
  readonly #agent: http.Agent
  readonly seen = new Set<string>()
  asked = 0
  connections = 0
  #sent = performance.now()

  constructor(port: string, keepAlive: boolean) {
    this.keepAlive = keepAlive
    this.#port = port
    this.#agent = new http.Agent({ keepAlive, maxSockets: 1 })
  }

  async ask(): Promise<void> {
    const run = runs[this.asked++ % runs.length]!
    // A server may close an idle connection just when it is used again (RFC 9112, 9.3.1). One that
    // drains waits for half a second first; a client that a busy machine has kept from asking for
    // so long takes another connection.
    if (performance.now() - this.#sent > 250) this.#agent.destroy()
    this.#sent = performance.now()
    const options = { protocol: http, agent: this.#agent, port: this.#port, path: `/${run}` }
    const { status, body, opened } = await ask(options).catch((cause: NodeJS.ErrnoException) => {
      const way = this.keepAlive ? 'a kept connection' : 'a connection of its own'
      throw new Error(`${run} over ${way}: ${cause.code ?? cause.message}`, { cause })
    })
    if (opened) this.connections++
    if (status !== 200 || !body.startsWith('version ')) throw new Error(`${run}: ${status} ${body}`)
    this.seen.add(`${run}: ${body}`)
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
