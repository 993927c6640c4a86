/** Clients that stay with an instance, at both entrances. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { io, type Socket } from 'socket.io-client'
import type { Service } from '../../src/config/app.ts'
import { pollUntil, TestApp } from '../support/app/test-app.ts'
import { entrances } from '../entrance/tls/secure-apps.ts'
import { ask } from './ask-instance.ts'

const file = `${import.meta.dirname}/programs/chat.mjs`

const placements = {
  'shared workers': { run: 'shared', instances: 3 },
  threads: { run: 'thread', instances: 3 },
  processes: { run: 'process', instances: 3 },
} as const satisfies Record<string, Partial<Service>>

for (const { entrance, skip } of entrances)
  describe(`sticky clients at the ${entrance} entrance`, { skip }, () => {
    const start = async (placement: Partial<Service>, sticky: Service['sticky']): Promise<TestApp> =>
      await TestApp.start({
        services: { chat: { file, sticky, ...placement } },
        workers: placement.run === 'shared' ? 3 : 2,
        gateway: { entrance },
      })

    for (const [name, placement] of Object.entries(placements)) {
      it(`socket.io polls one instance and upgrades there, and other connections reach it by the cookie (${name})`, async () => {
        await using app = await start(placement, 'cookie')
        const polling = Array.from({ length: 12 }, () => new Chat(app, ['polling']))
        const upgrading = Array.from({ length: 4 }, () => new Chat(app, ['polling', 'websocket']))
        const all = [...polling, ...upgrading]
        const instances = await Promise.all(all.map((chat) => chat.instance))
        assert.ok(new Set(instances).size > 1, 'clients are spread')
        for (let round = 0; round < 5; round++)
          assert.deepEqual(
            await Promise.all(all.map((chat) => chat.say(`${round}`))),
            instances.map((instance) => `${instance} ${round}`),
          )
        for (const chat of upgrading) await pollUntil(() => chat.transport === 'websocket')
        assert.deepEqual(
          await Promise.all(upgrading.map((chat) => chat.say('x'))),
          instances.slice(12).map((instance) => `${instance} x`),
        )
        for (const chat of all) chat.close()
        const seen = new Set<string>()
        for (let client = 0; client < 12; client++) {
          const first = await ask(app, '/none')
          assert.match(String(first.cookies), /^busbar-chat=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax$/)
          seen.add(first.body)
          const cookie = `other=1; ${first.cookies[0]!.split(';')[0]}; more=2`
          for (let time = 0; time < 4; time++) {
            const next = await ask(app, '/none', { headers: { cookie } })
            assert.deepEqual(next, { status: 200, body: first.body, cookies: [] })
          }
        }
        assert.ok(seen.size > 1, 'clients are spread')
      })
    }

    it('the cookie comes beside those of the program, however that sets them', async () => {
      for (const run of ['shared', 'thread'] as const) {
        await using app = await start({ run }, 'cookie')
        for (const way of ['set', 'append', 'object', 'objectOfOthers', 'list', 'listOfOthers']) {
          const { cookies } = await ask(app, `/${way}`)
          const names = cookies.map((cookie) => cookie.split('=')[0])
          assert.deepEqual(new Set(names), new Set(['busbar-chat', 'own']), `${run} ${way}`)
          assert.equal(names.length, 2)
        }
      }
    })

    it('a value that is not of the gateway gets a new cookie', async () => {
      await using app = await start({ run: 'thread' }, 'cookie')
      for (const value of ['', 'short', 'x'.repeat(23), '"; Path=/'])
        assert.equal((await ask(app, '/none', { headers: { cookie: `busbar-chat=${value}` } })).cookies.length, 1)
    })

    it('a client whose instance has died goes to another one, without a failure', async () => {
      await using app = await start(placements.threads, 'cookie')
      const first = await ask(app, '/none')
      const headers = { cookie: first.cookies[0]!.split(';')[0]! }
      assert.equal((await ask(app, '/exit', { headers })).status, 502)
      const bodies = new Set<string>()
      for (let time = 0; time < 20; time++) {
        const { status, body } = await ask(app, '/none', { headers })
        assert.equal(status, 200)
        bodies.add(body)
      }
      assert.equal(bodies.has(first.body), false)
    })

    it('a client is known by its address, without a cookie', async () => {
      await using app = await start(placements.threads, 'address')
      const bodies = new Set<string>()
      for (let time = 0; time < 12; time++) {
        const { body, cookies } = await ask(app, '/none')
        assert.deepEqual(cookies, [])
        bodies.add(body)
      }
      assert.equal(bodies.size, 1)
    })

    const linux = { skip: process.platform === 'linux' ? false : 'other systems have one loopback address' }
    it('clients of different addresses are spread', linux, async () => {
      await using app = await start(placements.threads, 'address')
      const bodies = Array.from({ length: 16 }, async (_, n) => {
        const answers = [0, 1, 2].map(() => ask(app, '/none', { localAddress: `127.0.0.${n + 2}` }))
        const own = new Set((await Promise.all(answers)).map(({ body }) => body))
        assert.equal(own.size, 1)
        return [...own][0]
      })
      assert.ok(new Set(await Promise.all(bodies)).size > 1)
    })
  })

/** A client of socket.io that keeps cookies, as browsers do. */
class Chat {
  readonly #socket: Socket
  readonly instance: Promise<string>

  constructor(app: TestApp, transports: string[]) {
    this.#socket = io(app.url, { transports, withCredentials: true, forceNew: true, reconnection: false })
    this.instance = new Promise((resolve, reject) => {
      this.#socket.once('instance', resolve).once('connect_error', reject)
    })
  }

  get transport(): string {
    return this.#socket.io.engine.transport.name
  }

  async say(words: string): Promise<string> {
    return (await this.#socket.timeout(60_000).emitWithAck('say', words)) as string
  }

  close(): void {
    this.#socket.close()
  }
}
