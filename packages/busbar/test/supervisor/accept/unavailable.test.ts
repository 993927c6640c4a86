/** The answers of an open port while no worker serves. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { type AppSetup, TestApp } from '../../support/app/test-app.ts'
import { selfSigned } from '../../support/http/certificate.ts'
import { Connection } from '../../support/http/raw-connection.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const programs = `${dirname(import.meta.dirname)}/programs`
const any = `${programs}/any.js`
const gateway = { routes: [{ host: undefined, prefix: '/none', service: 'any' }] }
const skip = process.platform !== 'linux' && 'SO_REUSEPORT balances on Linux only'

const setups: Readonly<Record<string, AppSetup>> = {
  'a gateway': { services: { any }, gateway },
  'a gateway of two workers': { services: { any }, gateway, workers: 2 },
  'a gateway with reusePort': { services: { any }, gateway, accept: 'reusePort' },
  'a raw entry': { services: { any } },
  'a raw entry in a thread': { services: { any: { file: any, run: 'thread' } } },
  'a raw entry in a process': { services: { any: { file: any, run: 'process' } } },
  'a raw entry with reusePort': { services: { any }, accept: 'reusePort' },
}

const requests = [
  'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST / HTTP/1.1\r\nContent-Length: 99\r\n\r\n',
  '\0nonsense',
  'x'.repeat(100_000),
  '',
]

for (const [name, setup] of Object.entries(setups))
  test(`while no worker serves, ${name} answers any input with the same 503`, { skip }, async () => {
    await using app = await TestApp.start(setup, { timing: noRestart })
    await killAll(app)
    const { ready, unready } = app.running.status().app
    assert.deepEqual([ready, unready], [false, name.startsWith('a gateway') ? ['gateway', 'any'] : ['any']])
    const answers = new Set<string>()
    for (const text of requests) answers.add(await answerTo(app, text))
    assert.equal(answers.size, 1)
    const [head, body] = [...answers][0]!.split('\r\n\r\n')
    assert.match(head!, /^HTTP\/1\.1 503 Service Unavailable\r\ncontent-type: application\/problem\+json\r\n/)
    assert.match(head!, /\r\nretry-after: 1\r\nconnection: close$/)
    const { status, code } = JSON.parse(body!) as { status: number; code: string }
    assert.deepEqual([status, code], [503, 'SERVICE_UNAVAILABLE'])
    const withoutBody = await answerTo(app, 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n')
    assert.equal(withoutBody, `${head}\r\n\r\n`)
    assert.ok(app.log.some(({ line }) => line.startsWith('no worker serves')))
  })

test(
  'with reusePort connections wait for the first replacement, as without, and then go to it alone',
  { skip },
  async () => {
    await using app = await TestApp.start({ services: { any }, accept: 'reusePort' })
    await kill(app)
    await app.until(() => app.running.workers[0]!.deaths === 1)
    using waiting = await Connection.open(app.port)
    assert.ok((await waiting.thread()) !== undefined)
    for (let count = 0; count < 20; count++) {
      using later = await Connection.open(app.port)
      assert.ok((await later.thread()) !== undefined)
    }
  },
)

test('an exposed port answers 503 while its service does not serve, and other ports keep answering', async () => {
  const expose = [{ host: '127.0.0.1', port: 0 }]
  const other = { file: any, run: 'thread', expose } as const
  await using app = await TestApp.start({ services: { any, other } }, { timing: noRestart })
  const port = app.running.addresses[1]!.port
  for (const deaths of [1, 2]) {
    using victim = await Connection.open(port)
    victim.send('/exit')
    await victim.answer()
    await app.until(() => app.running.workers[1]!.deaths === deaths)
    if (deaths === 1) await app.untilReplaced(1)
  }
  using refused = await Connection.open(port)
  assert.equal((await refused.answer())?.status, 503)
  using served = await Connection.open(app.port)
  assert.ok((await served.thread()) !== undefined)
})

for (const [name, service] of Object.entries({
  'the gateway': { file: any },
  'a program itself': { file: `${import.meta.dirname}/programs/secure.js` },
}))
  test(`${name} with TLS sends a fatal alert instead of the 503`, async () => {
    using folder = new TestFolder()
    const { cert, key } = await selfSigned()
    folder.write('cert.pem', cert)
    folder.write('key.pem', key)
    const files = { cert: folder.at('cert.pem'), key: folder.at('key.pem') }
    const tls = name === 'the gateway' ? files : undefined
    const env = { CERT: files.cert, KEY: files.key }
    const setup = { services: { any: { ...service, env } }, gateway: { tls } }
    await using app = await TestApp.start(setup, { timing: noRestart })
    for (const deaths of [1, 2]) {
      await outcome(app.port, '/exit')
      await app.until(() => app.running.workers[0]!.deaths === deaths)
      if (deaths === 1) await app.untilReplaced(0)
    }
    assert.match(await outcome(app.port, '/'), /alert internal error/)
  })

test('a connection that waits too long for a replacement gets a 503', async () => {
  using folder = new TestFolder()
  const env = { LATE: folder.at('late') }
  const late = { file: `${programs}/late.js`, env }
  await using app = await TestApp.start({ services: { late } }, { timing: { backlog: 300 } })
  writeFileSync(env.LATE, '')
  await kill(app)
  await app.until(() => app.running.workers[0]!.deaths === 1)
  using waiting = await Connection.open(app.port)
  assert.equal((await waiting.answer())?.status, 503)
  rmSync(env.LATE)
  await app.untilReplaced(0)
})

/** The second restart is so late that it never comes. */
const noRestart = { backoff: 3_600_000, backoffMax: 3_600_000 }

/** Resolves when each worker waits for its second restart. */
async function killAll(app: TestApp): Promise<void> {
  const worker = () => app.running.workers
  while (worker().some(({ state }) => state === 'serving' || state === 'starting')) {
    await app.until(() => worker().some(({ state }) => state === 'serving'))
    await kill(app)
    await app.until(() => worker().every(({ state }) => state !== 'starting'))
  }
}

async function kill(app: TestApp): Promise<void> {
  const before = app.running.workers.reduce((sum, { deaths }) => sum + deaths, 0)
  using victim = await Connection.open(app.port)
  victim.send('/exit')
  assert.equal((await victim.answer())?.status ?? 502, 502)
  await app.until(() => app.running.workers.reduce((sum, { deaths }) => sum + deaths, 0) > before)
}

/** Everything that a connection receives that sends `text` and stays open. */
async function answerTo(app: TestApp, text: string): Promise<string> {
  const socket = connect(app.port, '127.0.0.1').setEncoding('latin1')
  socket.write(text)
  let answer = ''
  for await (const chunk of socket) answer += chunk as string
  return answer
}

/** The status, or the message of the error. */
async function outcome(port: number, path: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  request({ port, path, rejectUnauthorized: false, agent: false }, (response) => {
    response.resume().once('end', () => resolve(String(response.statusCode)))
  })
    .once('error', (error) => resolve(error.message))
    .end()
  return await promise
}
