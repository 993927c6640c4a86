import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InstanceStats } from '../../../src/observe/app-status.ts'
import { appOf, pollUntil } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import {
  execute,
  programs,
  catalog,
  command,
  started,
  ask,
  assertAnswered,
  environmentOf,
} from './support/outside-app.ts'

describe('calls from outside', () => {
  test('are counted, with the latency by caller', async () => {
    await using app = await started({ shop: command('shop.mjs'), catalog })
    for (let call = 0; call < 3; call++) assertAnswered((await ask(app, '/shop/')).body)
    const { instances, calls } = app.running.status()
    const own = instances.find(({ service }) => service === 'catalog')!
    // The nine clients, and the upgrade.
    assert.equal(own.calls, 30)
    assert.equal(calls.find(({ caller, callee }) => caller === 'shop' && callee === 'catalog')?.count, 30)
  })

  test('go to the instance with the fewest in flight', async () => {
    await using app = await started({ shop: command('shop.mjs'), catalog: { ...catalog, instances: 2 } })
    const url = (await ask(app, '/shop/env')).body.variables['CATALOG_URL']
    using folder = new TestFolder()
    const stats = (): InstanceStats[] => app.running.status().instances.filter((one) => one.service === 'catalog')
    const held = ask(app, `/shop/?url=${encodeURIComponent(`${url}/?until=${folder.at('go')}`)}`)
    const untilOneIsLeft = (): Promise<void> =>
      pollUntil(() => stats().reduce((sum, { inFlight }) => sum + inFlight, 0) === 1, stats)
    await untilOneIsLeft()
    for (let call = 0; call < 6; call++) {
      await fetch(url, { headers: { connection: 'close' } })
      // A call counts slightly longer than its client waits for it.
      await untilOneIsLeft()
    }
    const counts = stats().map(({ inFlight, calls }) => ({ inFlight, calls }))
    assert.deepEqual(
      counts.toSorted((one, other) => one.calls - other.calls),
      [
        { inFlight: 1, calls: 1 },
        { inFlight: 0, calls: 6 },
      ],
    )
    folder.write('go', '')
    assert.equal((await held).status, 200)
  })

  test('wait for a service with a concurrency limit, and are refused if too many wait', async () => {
    const limited = { ...catalog, concurrency: 1, queue: 1 }
    await using app = await started({ shop: command('shop.mjs'), catalog: limited })
    const url = (await ask(app, '/shop/env')).body.variables['CATALOG_URL']
    using folder = new TestFolder()
    const calls = [1, 2, 3].map(() => fetch(`${url}/?until=${folder.at('go')}`, { headers: { connection: 'close' } }))
    const refused = await Promise.race(calls)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'])
    folder.write('go', '')
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 2)
  })

  test('end in an endless chain of calls', async () => {
    const loop = { file: join(programs, 'loop.mjs'), run: 'thread' } as const
    const limits = { ...appOf({ services: {} }).limits, maxHops: 4 }
    const shop = command('loop.mjs', { needs: [], env: { NEXT: 'loop' } })
    await using app = await started({ shop, loop }, { limits })
    for (const path of ['/shop/fetch', '/shop/http', '/shop/list', '/loop/thread', '/loop/process'])
      assert.deepEqual(await ask(app, path), { status: 508, body: 'HOP_LIMIT' }, path)
  })

  test('are answered while the whole app stops', async () => {
    const app = await started({ shop: command('shop.mjs'), catalog })
    using folder = new TestFolder()
    const slow = ask(app, `/shop/?url=${encodeURIComponent(`http://catalog.internal/?until=${folder.at('go')}`)}`)
    const inFlight = (): number => app.running.status().instances.find(({ service }) => service === 'catalog')!.inFlight
    await pollUntil(() => inFlight() === 1)
    const stopped = app.running.stop()
    folder.write('go', '')
    await stopped
    assert.equal((await slow).status, 200)
  })

  for (const [what, service] of Object.entries({ 'the service': 'catalog', 'the worker that forwards them': 'web' }))
    test(`are all answered while ${what} is restarted`, async () => {
      const web = { ...catalog, run: 'shared' } as const
      await using app = await started({ shop: command('shop.mjs'), catalog, web })
      const calling = execute(process.execPath, [join(programs, 'many.mjs')], { env: await environmentOf(app) })
      const calls = (): number => app.running.status().instances.find((one) => one.service === 'catalog')!.calls
      await pollUntil(() => calls() > 20, calls)
      await app.running.replace(undefined, [service])
      assert.equal((await calling).stdout, '{"failed":[]}\n')
    })

  for (const run of ['thread', 'process'] as const)
    test(`may go on after a response that a restart has not ended (a ${run})`, async () => {
      const web = { ...catalog, run: 'shared' } as const
      // Longer than the pauses below are on a busy machine.
      const timing = { quiet: 5_000 }
      await using app = await started({ shop: command('shop.mjs'), catalog: { ...catalog, run }, web }, {}, { timing })
      const url = (await ask(app, '/shop/env')).body.variables['CATALOG_URL']
      using folder = new TestFolder()
      const agent = new http.Agent({ keepAlive: true })
      const first = await begin(`${url}/?head&until=${folder.at('go')}`, agent)
      assert.equal(first.headers.connection, 'keep-alive')
      const row = (): number | undefined => app.running.workers.find(({ name }) => name === 'catalog')?.row
      const before = row()
      const replaced = app.running.replace(undefined, ['catalog'])
      await pollUntil(() => row() !== before, row)
      // The status has no event for the old worker, which drains now.
      await sleep(100)
      folder.write('go', '')
      await text(first)
      folder.write('go', '')
      await text(first)
      // The head of the first response has promised that the connection stays open. A connection
      // that was closed at once would be replaced by the agent.
      await sleep(50)
      const next = await begin(url, agent)
      assert.deepEqual([next.reused, next.statusCode, next.headers.connection], [true, 200, 'close'])
      await text(next)
      await replaced
      agent.destroy()
    })
})

async function begin(url: string, agent: http.Agent): Promise<http.IncomingMessage & { readonly reused: boolean }> {
  const request = http.get(url, { agent })
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  return Object.assign(response, { reused: request.reusedSocket })
}
