import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bench } from '../../src/bench.ts'
import { requestOf } from '../../src/scenarios/cells.ts'
import { userAppScenario } from '../../src/user-app/user-app.ts'
import { freePort } from '../../../busbar/test/support/http/free-ports.ts'
import { OwnCache, tiny, withEngine } from '../support/fixture.ts'
import { AppFolder, get, program, signal } from '../support/measured-app.ts'

test('a program is measured under plain node and under Busbar, and must repeat its answers', withEngine, async () => {
  using app = new AppFolder({ 'server.js': program(`'paid'`) })
  const { scenario, oneAtATime, notes } = await userAppScenario(app.path, { own: get('/checkout'), signal })
  assert.deepEqual([scenario.arms.map(({ name }) => name), scenario.baseline], [['node', 'busbar'], 'node'])
  assert.deepEqual([oneAtATime, notes], [false, []])
  assert.deepEqual(requestOf(scenario, { quick: true }), { path: '/checkout' })
  using _ = new OwnCache()
  const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
  for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
})

test('an app that always compresses is measured', withEngine, async () => {
  using app = new AppFolder({
    'server.js': program(`require('node:zlib').gzipSync('paid')`).replace(
      'response.end',
      `response.setHeader('content-encoding', 'gzip'); response.end`,
    ),
  })
  const { scenario } = await userAppScenario(app.path, { own: get('/checkout'), signal })
  using _ = new OwnCache()
  const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
  assert.equal(result.arms.length, 3)
  for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
})

for (const fixed of ['a service', 'the admin API'])
  test(`an app with a fixed port of ${fixed} is measured one arm at a time`, withEngine, async () => {
    const port = await freePort()
    using app = new AppFolder({
      'busbar.config.json': JSON.stringify({
        gateway: { entry: 'web' },
        defaults: { run: 'shared' },
        services: { web: './web.js', stock: { path: './stock.js', ...(fixed === 'a service' && { expose: port }) } },
        ...(fixed === 'the admin API' && { admin: { port, token: 'a token for this test' } }),
      }),
      'web.js': program(`'paid'`),
      'stock.js': program(`'in stock'`),
    })
    const { scenario, oneAtATime } = await userAppScenario(app.path, { own: get('/checkout'), signal })
    assert.deepEqual([scenario.arms.map(({ name }) => name), oneAtATime], [['busbar'], true])
    using _ = new OwnCache()
    const result = await bench(scenario, { quick: true, oneAtATime, timing: tiny, command: 'test' })
    assert.deepEqual(
      result.arms.map(({ name, invalidBecause, slices }) => [name, invalidBecause, slices.length]),
      [
        ['busbar', [], 2],
        ['busbar (again)', [], 2],
      ],
    )
  })

test('of varying answers only status and headers are checked, with a note', withEngine, async () => {
  using app = new AppFolder({ 'server.js': program('String(process.hrtime.bigint())') })
  const { scenario, notes } = await userAppScenario(app.path, { own: get('/checkout'), signal })
  assert.match(notes.join(), /only their status and headers/)
  using _ = new OwnCache()
  const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
  for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
})

test('a program that ignores PORT has no baseline, with a note', async () => {
  const port = await freePort()
  using app = new AppFolder({ 'server.js': program(`'paid'`).replace('process.env.PORT', String(port)) })
  const { scenario, notes } = await userAppScenario(app.path, { own: get('/checkout'), signal })
  assert.deepEqual(
    scenario.arms.map(({ name }) => name),
    ['busbar'],
  )
  assert.match(notes.join(), /Left out: the program under plain node, since it must listen on the port in PORT/)
})

test('a missing path and an invalid config are reported', async () => {
  using app = new AppFolder({ 'server.js': program(`'paid'`) })
  await assert.rejects(
    userAppScenario(app.path, { own: get('/nowhere'), signal }),
    /no good answer at \/nowhere \(it answered 404\)/,
  )
  using wrong = new AppFolder({ 'busbar.config.json': '{"services":{"web":"./nothing"}}' })
  await assert.rejects(userAppScenario(wrong.path, { own: get('/'), signal }), /nothing/)
})
