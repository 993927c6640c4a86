import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { type AppSetup, TestApp } from '../../support/app/test-app.ts'
import { selfSigned } from '../../support/http/certificate.ts'
import { ask, ClientLoops } from '../../support/http/client-loops.ts'

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
      await assertNoRequestFails(setup, http)
    })

  test('a program behind the gateway is restarted, with TLS', async () => {
    await assertNoRequestFails({ services: { asks, closes }, gateway: { tls } }, https)
  })

  test('a single program with its own TLS server is restarted', async () => {
    const env = { TLS_CERT: tls.cert, TLS_KEY: tls.key }
    await assertNoRequestFails({ services: { closes: { file: closes, env } } }, https)
  })
})

async function assertNoRequestFails(setup: AppSetup, protocol: typeof http | typeof https): Promise<void> {
  await using app = await TestApp.start(setup)
  const agent = new protocol.Agent({ keepAlive: true, maxSockets: 10 })
  const options = { protocol, agent, port: app.running.addresses.at(-1)!.port, rejectUnauthorized: false }
  let connections = 0
  await using clients = new ClientLoops(10, async () => {
    const { status, body, opened } = await ask(options)
    if (opened) connections++
    if (status !== 200 || body !== '"hello"') throw new Error(`${status} ${body}`)
  })
  for (let time = 0; time < 3; time++) {
    await clients.answers(200)
    await app.running.replace()
  }
  await clients.answers(200)
  assert.deepEqual(await clients.stop(), [])
  agent.destroy()
  assert.ok(connections > 10, 'they were told to make new ones')
}
