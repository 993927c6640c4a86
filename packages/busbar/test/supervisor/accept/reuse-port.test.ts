import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'
import { Connection, openMany } from '../../support/http/raw-connection.ts'

const any = `${dirname(import.meta.dirname)}/programs/any.js`
const skip = process.platform !== 'linux' && 'SO_REUSEPORT balances on Linux only'

for (const [name, routes] of [
  ['a raw entry', []],
  ['a gateway', [{ host: undefined, prefix: '/none', service: 'any' }]],
] as const) {
  test(`workers of ${name} share one port of the system's choice`, { skip }, async () => {
    await using app = await TestApp.start({ services: { any }, workers: 2, accept: 'reusePort', gateway: { routes } })
    assert.notEqual(app.port, 0)
    using connections = await openMany(app.port, 40)
    const threads = await Promise.all(connections.map((connection) => connection.thread()))
    // 40 connections hashed to one of two: once in 2^39 runs.
    assert.equal(new Set(threads).size, 2)
    await app.running.stop()
    await assert.rejects(once(connect(app.port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
  })
}

test('the replacement of a dead worker listens on the same port', { skip }, async () => {
  await using app = await TestApp.start({ services: { any }, accept: 'reusePort' })
  using victim = await Connection.open(app.port)
  victim.send('/exit')
  assert.equal(await victim.answer(), undefined)
  await app.untilReplaced(0)
  using later = await Connection.open(app.port)
  assert.ok((await later.thread()) !== undefined)
})

test('a port that another app has opened without reusePort is refused', { skip }, async () => {
  await using first = await TestApp.start({ services: { any } })
  await assert.rejects(TestApp.start({ services: { any }, accept: 'reusePort', gateway: { port: first.port } }), {
    code: 'PORT_IN_USE',
  })
})
