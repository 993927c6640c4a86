/** What a trial of advice does with moves that the config does not allow. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadApp, type Placements } from '../../src/config/load.ts'
import { findSockets } from '../../src/supervisor/admin/admin-socket.ts'
import { AdminClient } from '../../src/supervisor/admin/api-client.ts'
import { tryAdvice } from '../../src/supervisor/admin/operations/advice.ts'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const answers =
  "import { createServer } from 'node:http'\ncreateServer((_, response) => response.end('ok')).listen(3000)"

/** Three services of one folder, which a thread can load once since it has CommonJS. */
const files = {
  'package.json': { type: 'module' },
  'busbar.config.json': {
    gateway: { port: 0, entry: 'front' },
    services: {
      front: { path: './front.mjs' },
      leaf: { path: './leaf.mjs' },
      proc: { path: './leaf.mjs', run: 'process', instances: 2 },
    },
  },
  'front.mjs': answers,
  'leaf.mjs': answers,
  'x.cjs': '',
}

async function started(folder: TestFolder): Promise<TestApp> {
  const load = (placements?: Placements) => loadApp(folder.path, { env: {}, ...(placements && { placements }) })
  return await TestApp.startLoaded(await load(), { load, adminFolder: folder.at('run') })
}

/** As the status says. */
function places({ running }: TestApp): string[] {
  const { instances, workers } = running.status()
  const kinds = new Map(workers.map(({ worker, kind }) => [worker, kind]))
  return instances.map(({ service, instance, worker }) => `${service} ${instance} ${kinds.get(worker)}`)
}

describe('a trial of advice', { timeout: 240_000 }, () => {
  it('takes everything back if a service does not get where it was to run', async () => {
    using folder = new TestFolder(files)
    await using app = await started(folder)
    const admin = new AdminClient(findSockets(folder.at('run'), app.running.app.root)[0]!.path)
    const before = places(app)
    assert.deepEqual(before.toSorted(), ['front 0 thread', 'leaf 0 thread', 'proc 0 process', 'proc 1 process'])
    let isOver = false
    const calling = (async () => {
      while (!isOver)
        await fetch(app.url).then(
          (response) => response.text(),
          () => {},
        )
    })()
    try {
      const moves = ['front', 'proc', 'leaf'].map((service) => ({ service, run: 'shared' as const }))
      await assert.rejects(admin.json(tryAdvice, { moves, seconds: 0.5, settle: 0 }), {
        code: 'OPERATION_UNSUPPORTED',
        message: /leaf runs as thread and not as shared: .*front/,
      })
    } finally {
      isOver = true
      await calling
    }
    assert.deepEqual(places(app), before)
    assert.ok(app.running.app.services.every(({ copyOf, asked }) => copyOf === undefined && asked === undefined))
  })

  it('takes moves back to the places that people had chosen', async () => {
    using folder = new TestFolder(files)
    await using app = await started(folder)
    await app.running.move('leaf', { run: 'process', instances: 2 })
    const before = places(app)
    const takeBack = await app.running.moveTogether([
      { service: 'leaf', run: 'shared' },
      { service: 'proc', run: 'thread' },
    ])
    assert.notDeepEqual(places(app), before)
    await app.running.scale('front', 2)
    await takeBack()
    assert.deepEqual(
      places(app).filter((one) => !one.startsWith('front')),
      before.filter((one) => !one.startsWith('front')),
    )
    // What was changed meanwhile stays.
    assert.ok(places(app).includes('front 1 thread'))
  })
})
