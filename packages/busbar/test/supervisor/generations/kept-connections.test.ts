/** A trial compares the generations also if all clients keep their connections. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { ChangingApp } from './changing-app.ts'

const places: Readonly<Record<string, readonly [service: object, gateway: object]>> = {
  'a thread whose own server has the connections': [{ run: 'thread' }, { entry: 'web' }],
  'a process whose own server has the connections': [{ run: 'process' }, { entry: 'web' }],
  'a shared worker whose program has the connections': [{ run: 'shared' }, { entry: 'web' }],
  'a shared worker behind the gateway': [{ run: 'shared' }, { routes: { '/': 'web' } }],
}

for (const [place, [service, gateway]] of Object.entries(places))
  test(`a generation that fails is discarded, in ${place}, and no request fails otherwise`, async () => {
    const rest = { gateway: { port: 0, entrance: 'portable', ...gateway }, trial: { window: 3000, calls: 20 } }
    await using app = await ChangingApp.start({ web: service }, rest)
    await using clients = new KeepingClients(app.app.port)
    app.folder.write(
      'program.mjs',
      `import { createServer } from 'node:http'
      createServer((request, response) => response.writeHead(500).end()).listen(3000)`,
    )
    await assert.rejects(app.app.running.reload(), { code: 'GENERATION_WORSE', service: 'web' })
    const asked = clients.seen.get(200)!
    await clients.until(() => clients.seen.get(200)! > asked + 50)
    assert.deepEqual(new Set(clients.seen.keys()), new Set([200, 500]))
  })

/** Eight clients that ask again and again, each on one connection as long as it stays open. */
class KeepingClients implements AsyncDisposable {
  /** The answers by their status. */
  readonly seen = new Map<number, number>()
  readonly #agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  readonly #asking: Promise<unknown>
  #isOver = false

  constructor(port: number) {
    this.#asking = Promise.all(this.#agents.map((agent) => this.#ask(port, agent)))
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await Promise.race([this.#asking, new Promise((resolve) => setTimeout(resolve, 5))])
  }

  async #ask(port: number, agent: Agent): Promise<void> {
    while (!this.#isOver) {
      const [response] = (await once(request({ port, host: '127.0.0.1', agent }).end(), 'response')) as [
        IncomingMessage,
      ]
      await text(response)
      this.seen.set(response.statusCode!, (this.seen.get(response.statusCode!) ?? 0) + 1)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.#asking
    for (const agent of this.#agents) agent.destroy()
  }
}
