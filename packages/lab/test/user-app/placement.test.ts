import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bench } from '../../src/bench.ts'
import { userAppScenario } from '../../src/user-app/user-app.ts'
import { OwnCache, tiny, withEngine } from '../support/fixture.ts'
import { AppFolder, get, program, signal } from '../support/measured-app.ts'

describe('an app with varied placement', () => {
  const files = {
    'busbar.config.json': JSON.stringify({
      gateway: { entry: 'web' },
      defaults: { run: 'shared' },
      services: {
        web: { path: './web.js' },
        stock: { path: './stock.js', group: 'store' },
        pages: { command: `'${process.execPath}' pages.js` },
      },
    }),
    'web.js': program(`'paid'`),
    'stock.js': program(`'in stock'`),
    'pages.js': program(`'page'`),
  }

  test('has an arm for each distinct placement, and notes for services that cannot be moved', withEngine, async () => {
    using app = new AppFolder(files)
    const { scenario, notes } = await userAppScenario(app.path, { own: get('/checkout'), vary: 'placement', signal })
    const arms = scenario.arms.map(({ name, single }) => [name, single])
    assert.deepEqual(arms, [
      ['busbar', false],
      // Without a shared worker the number of workers has no effect.
      ['thread', true],
      ['process', true],
    ])
    assert.deepEqual(notes, [
      'Left out: shared, since it is the same as busbar.',
      'Not moved in thread: pages (process).',
      'Not moved in process: stock (thread).',
    ])
    using _ = new OwnCache()
    const result = await bench(scenario, { quick: true, notes, timing: tiny, command: 'test' })
    for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
    assert.equal(result.arms.length, 4)
    assert.deepEqual(result.notes.slice(0, notes.length), notes)
    assert.match(result.question, /where should its services run\?/)
  })

  test('has plain node as the baseline if it is one program', async () => {
    using app = new AppFolder({ 'server.js': program(`'paid'`) })
    const { scenario } = await userAppScenario(app.path, { own: get('/checkout'), vary: 'placement', signal })
    const names = scenario.arms.map(({ name }) => name)
    assert.deepEqual([names, scenario.baseline], [['node', 'busbar', 'thread', 'process'], 'node'])
  })
})
