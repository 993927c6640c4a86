import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { Reconnector } from '../../../src/supervisor/peers/reconnector.ts'
import { defaultTiming } from '../../../src/supervisor/timing.ts'
import { TestApp } from '../../support/app/test-app.ts'

const counts = `${import.meta.dirname}/programs/counts.js`
const cuts = `${import.meta.dirname}/programs/cuts.js`
const reconnected = 'lost their link and reconnect'

for (const run of ['shared', 'thread', 'process'] as const)
  test(`a ${run} worker that loses its link to a process reconnects, and no call runs twice`, async () => {
    await using app = await TestApp.start({
      services: { cuts: { file: cuts, run }, counts: { file: counts, run: 'process' } },
    })
    const get = (path: string, method = 'GET'): Promise<Response> =>
      fetch(`${app.url}${path}`, { method, headers: { connection: 'close' } })
    assert.equal(await (await get('/one')).text(), '1')
    const held = get('/hold', 'POST')
    await app.untilLogged('holds')
    assert.equal(await (await get('/cut')).text(), '1')
    assert.equal((await held).status, 502)
    await app.untilLogged(reconnected)
    assert.equal(await (await get('/two')).text(), '3')
    assert.equal(await (await get('/count')).text(), '3')
    assert.deepEqual(
      app.running.workers.map(({ deaths }) => deaths),
      [0, 0],
    )
  })

test('a pair reconnects more than once', async () => {
  await using app = await TestApp.start(
    { services: { cuts: { file: cuts, run: 'thread' }, counts: { file: counts, run: 'process' } } },
    { timing: { backoff: 1 } },
  )
  for (const time of [1, 2, 3]) {
    assert.equal(await (await fetch(`${app.url}/cut`, { headers: { connection: 'close' } })).text(), '1')
    await app.until(() => app.log.filter(({ line }) => line.includes(reconnected)).length === time)
    assert.equal(await (await fetch(app.url, { headers: { connection: 'close' } })).text(), String(time))
  }
})

describe('a pair that loses every link', () => {
  const one = { worker: 1, label: '1 (web)' }
  const other = { worker: 2, label: '2 (shop)' }
  const lost = { code: 'LINK_LOST', message: 'worker 2 sent nonsense' } as const

  it('reconnects each time, without end, after at most two seconds', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
    const said: string[] = []
    let made = 0
    const reconnector = new Reconnector(defaultTiming, (level, line) => said.push(`${level} ${line}`))
    for (let time = 0; time < 100; time++) {
      reconnector.lost(
        ...((time % 2 === 0 ? [one, other] : [other, one]) as [typeof one, typeof one]),
        lost,
        () => made++,
      )
      t.mock.timers.tick(2000)
      assert.equal(made, time + 1)
    }
    assert.match(said[0]!, /^warn workers 1 \(web\) and 2 \(shop\) lost .*: worker 2 sent nonsense$/)
  })

  it('does not reconnect after one of them has ended', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
    const reconnector = new Reconnector(defaultTiming, assert.fail)
    reconnector.lost(one, other, lost, assert.fail)
    reconnector.forget(2)
    t.mock.timers.tick(60_000)
  })
})
