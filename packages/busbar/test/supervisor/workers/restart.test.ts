import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { BusbarError } from '../../../src/contract/errors.ts'
import { appOf, TestApp } from '../../support/app/test-app.ts'
import { Connection } from '../../support/http/raw-connection.ts'

const any = `${dirname(import.meta.dirname)}/programs/any.js`
const throws = `${dirname(import.meta.dirname)}/programs/throws.js`

test('a restart gives new connections to a new thread, and the old one finishes its requests', async () => {
  await using app = await TestApp.start({ services: { any }, workers: 2 }, { mode: 'dev' })
  using old = await Connection.open(app.port)
  const before = await old.thread()
  old.send('/later?ms=300')
  await app.untilLogged('begins /later')
  await app.running.replace()
  using fresh = await Connection.open(app.port)
  assert.notEqual(await fresh.thread(), before)
  assert.equal((await old.answer())?.status, 200)
  assert.ok(app.running.workers.every(({ deaths, state }) => deaths === 0 && state === 'serving'))
})

test('a restart runs the current version of the file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-restart-'))
  const file = join(folder, 'program.mjs')
  await copyFile(any, file)
  {
    await using app = await TestApp.start({ services: { any: file } }, { mode: 'dev' })
    await writeFile(file, "import { createServer } from 'node:http'\ncreateServer((q, r) => r.end('new')).listen(1)")
    await app.running.replace()
    const answer = await fetch(app.url, { headers: { connection: 'close' } })
    assert.equal(await answer.text(), 'new')
  }
  await rm(folder, { recursive: true })
})

test('when the new worker fails, the restart rejects and the old worker keeps serving', async () => {
  await using app = await TestApp.start({ services: { any } }, { mode: 'dev' })
  using kept = await Connection.open(app.port)
  const before = await kept.thread()
  const next = appOf({ services: { any: throws } })
  await assert.rejects(
    app.running.replace(next),
    (error) => BusbarError.is(error, 'PROGRAM_THREW') && error.message.includes('no database'),
  )
  assert.equal(await kept.thread(), before)
  using fresh = await Connection.open(app.port)
  assert.equal(await fresh.thread(), before)
  await app.running.replace(appOf({ services: { any } }))
  using later = await Connection.open(app.port)
  assert.notEqual(await later.thread(), before)
})

test('simultaneous restarts run one after the other', async () => {
  await using app = await TestApp.start({ services: { any } }, { mode: 'dev' })
  using stuck = await Connection.open(app.port)
  await stuck.thread()
  stuck.send('/never')
  await Promise.all([app.running.replace(), app.running.replace(), app.running.replace()])
  using fresh = await Connection.open(app.port)
  assert.ok((await fresh.thread()) !== undefined)
  // Its thread was ended to free a row for the next restart.
  assert.equal(await stuck.answer(), undefined)
})

test('a stop during a restart ends both threads', async () => {
  await using app = await TestApp.start({ services: { any } }, { mode: 'dev' })
  const restarted = app.running.replace().catch(() => {})
  await app.running.stop()
  await restarted
  assert.equal(app.running.workers[0]!.state, 'stopped')
})

test('a restart into an app with other ports is refused', async () => {
  await using app = await TestApp.start({ services: { any } })
  const next = appOf({ services: { any }, gateway: { port: 1 } })
  await assert.rejects(app.running.replace(next), { code: 'RESTART_NEEDED' })
})

test('a restart during the drain of the previous one loses no in-flight request', async () => {
  await using app = await TestApp.start({ services: { any } })
  using old = await Connection.open(app.port)
  old.send('/later?ms=700')
  await app.untilLogged('begins /later')
  await app.running.replace()
  await app.running.replace()
  assert.equal((await old.answer())?.status, 200)
})
