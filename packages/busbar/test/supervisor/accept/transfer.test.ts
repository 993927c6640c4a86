/**
 * Connections on their way from the main thread, which accepts them, to the worker that serves
 * them.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { pollUntil, TestApp, type AppSetup } from '../../support/app/test-app.ts'
import { Connection } from '../../support/http/raw-connection.ts'

const any = `${dirname(import.meta.dirname)}/programs/any.js`
const echo = `${import.meta.dirname}/programs/echo.js`

const places: Record<string, AppSetup> = {
  'a thread': { services: { echo: { file: echo, run: 'thread' } } },
  'a process': { services: { echo: { file: echo, run: 'process' } } },
  'workers that open the port themselves': { services: { echo }, workers: 2, accept: 'reusePort' },
}

for (const [name, setup] of Object.entries(places)) {
  test(`${name} gets every byte, in order, of clients that send before their connection is accepted`, async () => {
    await using app = await TestApp.start(setup)
    const bodies = Array.from({ length: 24 }, (_, index) => randomBytes(1 + index * 20_000).toString('base64'))
    const answers = await Promise.all(
      bodies.map(async (body) => {
        const client = connect({ port: app.port, host: '127.0.0.1', allowHalfOpen: true })
        client.end(
          `POST / HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
        return await text(client)
      }),
    )
    for (const [index, answer] of answers.entries())
      assert.ok(answer.endsWith(`\r\n\r\n${bodies[index]}`), `${answer.slice(0, 30)} to ${bodies[index]!.length} bytes`)
  })

  test(`${name} sees the end of connections that were reset during the transfer`, async () => {
    await using app = await TestApp.start(setup)
    const clients = Array.from({ length: 50 }, () => connect(app.port, '127.0.0.1'))
    await Promise.all(clients.map((client) => once(client, 'connect')))
    for (const client of clients) client.resetAndDestroy()
    await pollUntil(() => app.running.workers.every(({ connections }) => connections === 0))
    assert.equal(await post(app.port, 'hello'), 'hello')
  })
}

test('a connection on its way to a thread that dies is closed, and the next one is answered', async () => {
  await using app = await TestApp.start({ services: { any } })
  using blocking = await Connection.open(app.port)
  blocking.send('/busy?ms=300')
  blocking.send('/exit')
  // Accepted and transferred while the thread computes.
  const waiting = connect(app.port, '127.0.0.1').on('error', () => {})
  await once(waiting.resume(), 'close')
  await app.untilReplaced(0)
  using later = await Connection.open(app.port)
  assert.notEqual(await later.thread(), undefined)
  await pollUntil(() => app.running.workers[0]!.connections === 1)
})

test('a connection that comes between the fault of the last worker and its exit waits for the next one', async () => {
  const slow = `${import.meta.dirname}/programs/exits-slowly.js`
  await using app = await TestApp.start({ services: { any, slow }, gateway: {} })
  using killer = await Connection.open(app.port)
  killer.send('/exit')
  await app.until(() => app.log.some(({ line }) => line.includes('process.exit(7)')))
  assert.equal(app.running.workers[0]!.deaths, 0)
  using waiting = await Connection.open(app.port)
  waiting.send('/')
  assert.equal((await waiting.answer())?.status, 200)
  assert.equal(app.running.workers[0]!.deaths, 1)
})

async function post(port: number, body: string): Promise<string> {
  return await (
    await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers: { connection: 'close' } })
  ).text()
}
