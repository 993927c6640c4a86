/** The reload of a service that the gateway reaches over its own connections. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { pollUntil } from '../../support/app/test-app.ts'
import { ChangingApp } from './changing-app.ts'

for (const run of ['process', 'thread'] as const)
  test(`clients keep their connections while a service in a ${run} is reloaded`, async () => {
    const gateway = { port: 0, entrance: 'portable', routes: { '/web': 'web' } }
    await using app = await ChangingApp.start({ web: { run }, other: { run: 'shared' } }, { gateway })
    const clients = Array.from({ length: 4 }, () => new LastingClient(app.app.port))
    for (let round = 0; round < 3; round++) {
      const reloaded = app.app.running.reload('web')
      await Promise.all(clients.map(async (client) => await client.askWhile(reloaded)))
    }
    // The last of the previous generation.
    await Promise.all(
      clients.map(async (client) => await client.askWhile(new Promise((done) => setTimeout(done, 500)))),
    )
    for (const client of clients) {
      assert.deepEqual([...client.answers], ['200 keep-alive'])
      assert.ok(client.generations.size > 1)
      client.end()
    }
  })

for (const run of ['process', 'thread'] as const)
  test(`so does the client of a request that a service in a ${run} answers while it drains`, async () => {
    const gateway = { port: 0, entrance: 'portable', routes: { '/web': 'web' } }
    await using app = await ChangingApp.start({ web: { run }, other: { run: 'shared' } }, { gateway })
    const client = new LastingClient(app.app.port)
    const answered = client.ask('/web/later/3000')
    await pollUntil(() => app.app.running.status().instances[0]!.inFlight === 1)
    await app.app.running.reload('web')
    await answered
    await client.ask('/web')
    assert.deepEqual([...client.answers], ['200 keep-alive'])
    assert.equal(client.generations.size, 2)
    client.end()
  })

/** Asks again and again, on one connection as long as that stays open. */
class LastingClient {
  readonly answers = new Set<string>()
  readonly generations = new Set<string>()
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(port: number) {
    this.#port = port
  }

  async askWhile(pending: Promise<unknown>): Promise<void> {
    let isOver = false
    const over = pending.then(() => (isOver = true))
    while (!isOver) await this.ask('/web/later/5')
    await over
  }

  async ask(path: string): Promise<void> {
    const sent = request({ port: this.#port, host: '127.0.0.1', path, agent: this.#agent }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    this.generations.add(await text(response))
    this.answers.add(`${response.statusCode} ${response.headers.connection}`)
  }

  end(): void {
    this.#agent.destroy()
  }
}
