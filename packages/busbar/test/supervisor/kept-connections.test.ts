import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { type AppSetup, TestApp } from '../support/app.ts'
import { selfSigned } from '../support/certificate.ts'

const kept = `${import.meta.dirname}/programs/kept.ts`
const closes = `${import.meta.dirname}/programs/closes.js`
const asks = `${import.meta.dirname}/programs/asks-kept.js`
const expose = [{ host: '127.0.0.1', port: 0 }]

const apps: Record<string, AppSetup> = {
  'a lone program in the shared thread': { services: { closes } },
  'a lone program in a thread of its own': { services: { closes: { file: closes, run: 'thread' } } },
  'a lone program in a process': { services: { closes: { file: closes, run: 'process' } } },
  'a lone program in workers that open the port themselves': { services: { closes }, workers: 2, accept: 'reusePort' },
  'a typed service behind the gateway': { services: { kept: { file: kept, kind: 'typed' } } },
  'a program with a port of its own': { services: { asks, closes: { file: closes, expose } } },
  'a typed service with a port of its own': { services: { asks, kept: { file: kept, kind: 'typed', expose } } },
  'a program beside another that keeps connections to it': { services: { asks, closes } },
  'a program in a thread that others keep connections to': {
    services: { asks, closes: { file: closes, run: 'thread' } },
  },
  'a program in a process that others keep connections to': {
    services: { asks, closes: { file: closes, run: 'process' } },
  },
}

suite('clients that keep their connections lose no request when', () => {
  let folder: string
  let tls: { cert: string; key: string }
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'busbar-kept-'))
    tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
    const { cert, key } = await selfSigned()
    await Promise.all([writeFile(tls.cert, cert), writeFile(tls.key, key)])
  })
  after(() => rm(folder, { recursive: true }))

  for (const [name, setup] of Object.entries(apps))
    test(`${name} is restarted`, async () => {
      await losesNothing(setup, http)
    })

  test('a program behind the gateway is restarted, over TLS', async () => {
    await losesNothing({ services: { asks, closes }, gateway: { tls } }, https)
  })

  test('a lone program that speaks TLS itself is restarted', async () => {
    const env = { TLS_CERT: tls.cert, TLS_KEY: tls.key }
    await losesNothing({ services: { closes: { file: closes, env } } }, https)
  })
})

async function losesNothing(setup: AppSetup, protocol: typeof http | typeof https): Promise<void> {
  await using app = await TestApp.start(setup)
  await using clients = new KeptClients(protocol, app.running.addresses.at(-1)!.port, 10)
  for (let time = 0; time < 3; time++) {
    await clients.answers(200)
    await app.running.restart()
  }
  await clients.answers(200)
  assert.deepEqual(await clients.stop(), [])
  assert.ok(clients.connections > 10, 'they were told to make new ones')
}

/** Ask all the time, each over a connection that it keeps as long as the answers allow it. */
class KeptClients implements AsyncDisposable {
  readonly #protocol: typeof http | typeof https
  readonly #options: https.RequestOptions
  readonly #loops: readonly Promise<void>[]
  readonly #lost: string[] = []
  readonly #answered: (() => void)[] = []
  #count = 0
  #stopped = false
  connections = 0

  constructor(protocol: typeof http | typeof https, port: number, count: number) {
    const agent = new protocol.Agent({ keepAlive: true, maxSockets: count })
    this.#protocol = protocol
    this.#options = { port, host: '127.0.0.1', agent, rejectUnauthorized: false }
    this.#loops = Array.from({ length: count }, () => this.#ask())
  }

  /** Resolves when there have been so many more. */
  async answers(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#answered[this.#count + count] = resolve
    await promise
  }

  /** What went wrong first. */
  async stop(): Promise<readonly string[]> {
    this.#stopped = true
    await Promise.all(this.#loops)
    ;(this.#options.agent as http.Agent).destroy()
    return this.#lost.slice(0, 10)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #ask(): Promise<void> {
    while (!this.#stopped) {
      const failure = await this.#once().catch((error: NodeJS.ErrnoException) => error.code ?? error.message)
      if (failure !== undefined) this.#lost.push(failure)
      this.#answered[++this.#count]?.()
    }
  }

  async #once(): Promise<string | undefined> {
    const request = this.#protocol.get(this.#options)
    request.once('socket', (socket) => socket.connecting && this.connections++)
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    const body = (await response.setEncoding('utf8').toArray()).join('')
    return response.statusCode === 200 && body === '"hello"' ? undefined : `${response.statusCode} ${body}`
  }
}
