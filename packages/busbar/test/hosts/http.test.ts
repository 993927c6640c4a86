import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AppSetup } from '../support/app/test-app.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { testProgramCalls } from './support/program-calls.ts'
import { exportPortOf, program, startFar, TwoApps } from './support/two-apps.ts'

const placements: Readonly<Record<string, Partial<AppSetup>>> = {
  'a shared worker': {},
  'a thread of its own': { services: { stock: { file: program('stock.js'), run: 'thread' } } },
  'a thread of a pool': {
    services: { stock: { file: program('stock.js'), run: 'thread', instances: 2, concurrency: 2 } },
  },
  'another worker than the one that the link leads to': {
    workers: 3,
    services: { idle: program('web.js'), stock: { file: program('stock.js'), run: 'thread' } },
  },
  'a process': { services: { stock: { file: program('stock.js'), run: 'process' } } },
}

for (const [place, far] of Object.entries(placements))
  describe(`a program of another app, in ${place}`, () => {
    let apps: TwoApps
    before(async () => (apps = await TwoApps.start({ far })))
    after(() => apps[Symbol.asyncDispose]())

    testProgramCalls(() => apps)
  })

describe('an export without TLS', () => {
  it('warns that anybody may call', async () => {
    await using apps = await TwoApps.start()
    assert.ok(apps.far.log.some(({ level, line }) => level === 'warn' && line.includes('export.tcp has no TLS')))
  })

  it('answers with an error when the other app has stopped, and is reached again when it is back', async () => {
    await using apps = await TwoApps.start()
    const port = exportPortOf(apps.far)
    await apps.far.running.stop()
    await pollUntil(() => apps.near.log.some(({ line }) => line.includes('is dialled until it answers')))
    const { cause, causeCode } = await apps.ask('fetch/who')
    assert.equal(causeCode, 'ECONNREFUSED')
    assert.match(
      String(cause),
      /service 'stock' of another app cannot be reached: tcp:\/\/127\.0\.0\.1:\d+ has no link/,
    )
    await using again = await startFar({}, { port })
    await pollUntil(() => apps.near.log.some(({ line }) => line.includes('is linked again')))
    assert.equal((await apps.ask('fetch/who'))['status'], 200)
    assert.ok(again)
  })
})
