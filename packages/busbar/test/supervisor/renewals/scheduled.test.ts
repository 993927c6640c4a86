import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { Connection } from '../../support/http/raw-connection.ts'

const any = `${dirname(import.meta.dirname)}/programs/any.js`

async function threadOf(app: TestApp): Promise<unknown> {
  using connection = await Connection.open(app.port)
  return await connection.thread()
}

function timesLogged(app: TestApp, text: string): number {
  return app.log.filter(({ line }) => line.includes(text)).length
}

test('an instance that has served for its maxUptime is replaced, and a request in flight is answered', async () => {
  await using app = await TestApp.start({ services: { any: { file: any, maxUptime: 1000 } } })
  const before = await threadOf(app)
  using kept = await Connection.open(app.port)
  kept.send('/later?ms=2500')
  await app.untilLogged('was replaced')
  assert.ok(app.log.some(({ line }) => line.includes('has served for its maxUptime of 1000 ms')))
  assert.notEqual(await threadOf(app), before)
  assert.equal((await kept.answer())?.status, 200)
})

test('the instances of a service are replaced one after the other at the times of its cronRestart', async () => {
  const cronRestart = { cron: '* * * * * *', timeZone: 'Europe/Berlin' }
  const service = { file: any, run: 'thread', instances: 2, cronRestart } as const
  await using app = await TestApp.start({ services: { any: service, other: { file: any, run: 'thread' } } })
  await app.until(() => timesLogged(app, 'was replaced') >= 2)
  const events = app.log.filter(({ line }) =>
    /^worker .*(is replaced: service 'any' has cronRestart|was replaced)/.test(line),
  )
  const lines = events.map(({ line }) => line.replace(/^worker (\d+).*?(is|was) replaced.*$/, '$1 $2'))
  assert.ok(lines.indexOf('0 was') >= 0 && lines.indexOf('1 was') >= 0, lines.join(', '))
  assert.equal(
    app.running.workers.reduce((sum, { deaths }) => sum + deaths, 0),
    0,
  )
  assert.equal(timesLogged(app, "service 'other'"), 0)
})

test('an instance whose successor cannot start goes on', async () => {
  using folder = new TestFolder({})
  const env = { FAIL_IF: folder.at('fail') }
  const file = `${import.meta.dirname}/programs/fails-later.js`
  await using app = await TestApp.start({ services: { web: { file, env, maxUptime: 1000 } } })
  writeFileSync(env.FAIL_IF, '')
  const failed = 'could not be replaced and goes on'
  await app.untilLogged(failed)
  const before = await threadOf(app)
  await app.until(() => timesLogged(app, failed) >= 2)
  assert.equal(await threadOf(app), before)
})
