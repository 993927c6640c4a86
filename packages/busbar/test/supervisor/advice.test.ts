import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { loadApp, type Placements } from '../../src/config/load.ts'
import { findSockets } from '../../src/supervisor/admin/admin-socket.ts'
import { AdminClient } from '../../src/supervisor/admin/api-client.ts'
import {
  getAdvice,
  getCosts,
  getSlowParts,
  measureCallCosts,
  tryAdvice,
} from '../../src/supervisor/admin/operations/advice.ts'
import { pollUntil, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const answers = 'require("node:http").createServer((_, response) => response.end("ok")).listen(3000)'
const calls = `
const { createServer } = require('node:http')
createServer(async (_, response) => {
  for (const name of ['cart', 'stock']) await (await fetch('http://' + name + '.internal/')).text()
  response.end('ok')
}).listen(3000)`

describe('advice of a running app', { timeout: 300_000 }, () => {
  const folder = new TestFolder({
    'busbar.config.json': {
      gateway: { port: 0, entry: 'web' },
      services: { web: './web', cart: './cart', stock: './stock' },
    },
    'web/index.js': calls,
    'cart/index.js': answers,
    'stock/index.js': answers,
  })
  const cache = process.env['XDG_CACHE_HOME']
  let app: TestApp
  let admin: AdminClient
  let stop: () => Promise<void>

  before(async () => {
    process.env['XDG_CACHE_HOME'] = folder.at('cache')
    const load = (placements?: Placements) => loadApp(folder.path, { env: {}, ...(placements && { placements }) })
    app = await TestApp.startLoaded(await load(), { load, adminFolder: folder.at('run') })
    admin = new AdminClient(findSockets(folder.at('run'), app.running.app.root)[0]!.path)
    stop = keepCalling(app.url)
  })
  after(async () => {
    await stop()
    await app[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
    if (cache === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = cache
  })

  const placements = (): string[] => app.running.app.services.map(({ name, run }) => `${name} ${run}`)

  it('needs the costs of calls, which are measured once and kept', async () => {
    assert.deepEqual(await admin.json(getCosts, {}), { costs: null, distorted: false })
    await assert.rejects(admin.json(getAdvice, { seconds: 1 }), {
      code: 'OPERATION_UNSUPPORTED',
      message: /costs of calls/,
    })
    const { costs } = await admin.json(measureCallCosts, {})
    for (const { local, thread, unix } of [costs.http, costs.rpc])
      for (const one of [local, thread, unix])
        assert.ok(one.latency > 0 && one.caller > 0 && one.callee > 0, JSON.stringify(costs))
    assert.deepEqual((await admin.json(getCosts, {})).costs, costs)
    const [file] = readdirSync(folder.at('cache', 'busbar'))
    // A damaged file is no cost of calls.
    writeFileSync(folder.at('cache', 'busbar', file!), '{"http":{}}')
    assert.deepEqual(await admin.json(getCosts, {}), { costs: null, distorted: false })
    // More than twice the processors of any machine.
    writeFileSync(folder.at('cache', 'busbar', file!), JSON.stringify({ ...costs, others: 1e6 }))
    assert.equal((await admin.json(getCosts, {})).distorted, true)
    writeFileSync(folder.at('cache', 'busbar', file!), JSON.stringify({ ...costs, others: 0 }))
    assert.equal((await admin.json(getCosts, {})).distorted, false)
  })

  it('has every service with its calls, and what it would change to run elsewhere', async () => {
    const { services, now, costs, suggestions } = await admin.json(getAdvice, { seconds: 2 })
    assert.deepEqual(
      services.map(({ service, run, elsewhere }) => [service, run, elsewhere.map((one) => one.run)]),
      [
        ['web', 'thread', ['shared', 'process']],
        ['cart', 'thread', ['shared', 'process']],
        ['stock', 'thread', ['shared', 'process']],
      ],
    )
    assert.ok(now.callsPerSecond > 0 && now.mean! > 0 && costs.node === process.version)
    for (const { text, moves, figures } of suggestions) assert.ok(text !== '' && moves.length > 0 && figures.length > 0)
  })

  it('suggests nothing from the processor time of workers that are replaced meanwhile', async () => {
    let isOver = false
    const replacing = (async () => {
      while (!isOver) await app.running.replace()
    })()
    try {
      // A window may lie between two replacements.
      let advice = await admin.json(getAdvice, { seconds: 2 })
      while (advice.now.utilization !== null) advice = await admin.json(getAdvice, { seconds: 2 })
      const unknown = advice.services.filter(({ cpu }) => cpu === null)
      assert.ok(unknown.length > 0)
      assert.deepEqual([advice.now.busiest, advice.suggestions], [null, []])
      assert.ok(advice.services.every(({ elsewhere }) => elsewhere.length === 0))
      assert.match(
        advice.unknown.join(),
        new RegExp(`The processor time of worker ${unknown[0]!.service} is not known`),
      )
    } finally {
      isOver = true
      await replacing
    }
  })

  it('is tried: either the moves stay, or everything is where it was', async () => {
    const before = placements()
    const moves = ['web', 'cart', 'stock'].map((service) => ({ service, run: 'shared' as const }))
    const trial = await admin.json(tryAdvice, { moves, seconds: 1, settle: 0.5 })
    assert.ok(trial.before.calls > 0 && trial.after.calls > 0 && trial.why !== '')
    assert.deepEqual(placements(), trial.kept ? before.map((one) => one.replace('thread', 'shared')) : before)
    assert.equal(trial.after.failures, 0)
  })

  it('is not tried with an unknown service, nor twice at the same time', async () => {
    const moves = [{ service: 'web', run: app.running.app.services[0]!.run }]
    await assert.rejects(admin.json(tryAdvice, { moves: [{ service: 'wbe', run: 'shared' }] }), {
      code: 'SERVICE_UNKNOWN',
    })
    const first = admin.json(tryAdvice, { moves, seconds: 2, settle: 0 })
    await assert.rejects(
      async () => {
        // The first one has begun when its place is taken.
        for (;;) await admin.json(tryAdvice, { moves, seconds: 0.1, settle: 0 })
      },
      { code: 'OPERATION_UNSUPPORTED', message: /another trial/ },
    )
    await first.catch(() => {})
  })

  it('is taken back when the client leaves', async () => {
    const before = placements()
    const abort = new AbortController()
    const run = before[1]!.endsWith('shared') ? 'thread' : 'shared'
    const trying = admin.json(
      tryAdvice,
      { moves: [{ service: 'cart', run }], seconds: 0.5, settle: 60 },
      { signal: abort.signal },
    )
    await pollUntil(() => placements()[1] !== before[1])
    abort.abort()
    await assert.rejects(trying)
    await pollUntil(() => placements()[1] === before[1])
  })

  it('names what is slow, with figures', async () => {
    const { parts } = await admin.json(getSlowParts, { seconds: 1 })
    const hop = parts.find(({ kind }) => kind === 'hop')!
    // Which of them takes more of its time itself depends on the machine.
    assert.match(hop.what, /^(?:\(outside\)|web|cart) > (?:web|cart|stock) /)
    assert.ok(hop.figures['calls']! > 0)
  })

  it('is not tried without calls', async () => {
    await stop()
    // A call counts slightly longer than its client waits for it. No event tells when it has ended.
    await pollUntil(() => app.running.status().instances.every(({ inFlight }) => inFlight === 0))
    const moves = [{ service: 'cart', run: 'process' as const }]
    await assert.rejects(admin.json(tryAdvice, { moves, seconds: 0.2 }), {
      code: 'OPERATION_UNSUPPORTED',
      message: /nothing to compare/,
    })
    assert.ok(!placements().includes('cart process'))
  })
})

/** Two clients that call one after the other, until the returned function has been called. */
function keepCalling(url: string): () => Promise<void> {
  let isOver = false
  const chain = async (): Promise<void> => {
    while (!isOver)
      await fetch(url).then(
        (response) => response.text(),
        () => {},
      )
  }
  const chains = Promise.all([chain(), chain()])
  return async () => {
    isOver = true
    await chains
  }
}
