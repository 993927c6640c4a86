import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { client, safe } from '../../src/contract/client-entry.ts'
import { startSupervisor } from '../../src/supervisor/supervisor.ts'
import type { RunningApp } from '../../src/supervisor/running-app.ts'
import { calc } from './programs/shop/calc/contract.ts'
import { catalog } from './programs/shop/catalog/contract.ts'

const programs = new URL('programs', import.meta.url).pathname

/** The same app must give the same answers at every placement of its typed services. */
for (const [name, where] of [
  ['shop', ''],
  ['shop-threads', ', a thread each'],
  ['shop-processes', ', a process each'],
])
  describe(`an app with typed services${where}`, () => {
    const lines: string[] = []
    let app: RunningApp
    let url: string

    before(async () => {
      const log = ({ line }: { line: string }): void => void lines.push(line)
      app = await startSupervisor(await loadApp(join(programs, name!), { env: {} }), {
        mode: 'dev',
        log,
        timing: { stale: 60_000 },
      })
      url = app.addresses[0]!.url.replace(/\/$/, '')
    })

    after(async () => await app.stop())

    async function get(path: string): Promise<unknown> {
      const response = await fetch(url + path)
      const text = await response.text()
      assert.equal(response.status, 200, text)
      return JSON.parse(text)
    }

    it('recognises them by their contract', async () => {
      const { services } = await loadApp(join(programs, 'shop'), { env: {} })
      assert.deepEqual(Object.fromEntries(services.map(({ name, kind }) => [name, kind])), {
        stock: 'typed',
        catalog: 'typed',
        sums: 'typed',
        web: 'program',
      })
    })

    it('lets a program call them like functions', async () => {
      assert.deepEqual(await get('/product'), { id: 3, stock: 30 })
    })

    it('returns the same errors to programs as to any caller', async () => {
      assert.deepEqual(await get('/missing'), { status: 404, data: { id: 100 } })
      assert.equal(await get('/invalid'), 'INPUT_INVALID')
    })

    it('passes the name of the caller, and nothing of its async context', async () => {
      assert.deepEqual(await get('/context'), { caller: 'web', limited: false })
    })

    it('passes a deadline to nested calls', async () => {
      assert.deepEqual(await get('/inherited'), { caller: 'catalog', limited: true })
    })

    it('cancels nested calls when the outer call is cancelled', async () => {
      assert.equal(await get('/slow'), 'DEADLINE_EXCEEDED')
      // The caller ends at once. The callee in another worker is notified later.
      const hasEnded = async (): Promise<boolean> =>
        ((await get('/aborted')) as string[]).some((line) => line.startsWith('web DEADLINE'))
      while (!(await hasEnded())) await sleep(5)
    })

    it('stops an endless chain of calls', async () => {
      assert.equal(((await get('/around')) as { code: string }).code, 'INTERNAL')
      assert.ok(lines.some((line) => line.includes('is number 17 of a chain')))
    })

    it('streams to programs', async () => {
      assert.deepEqual(await get('/ticks'), [1, 2, 3])
    })

    it('serves a plain class, with a new instance per call', async () => {
      assert.deepEqual(await get('/sum'), [3, 3])
      const sums = client(calc, `${url}/calc`, { service: 'sums' })
      assert.equal(await sums.add(2, 3), 5)
      assert.equal(await sums.inherited(), 'of Base')
      for (const name of ['_secret', 'constructor', 'toString', 'total'])
        assert.equal((await fetch(`${url}/calc/sums/${name}`, { method: 'POST' })).status, 404, name)
    })

    it('reports at start that a contract has another name', () => {
      assert.ok(lines.some((line) => line.includes('contract is named calc, but the config names it sums')))
    })

    it('suggests the nearest service, and distinguishes programs from typed services', async () => {
      const { code, data } = (await get('/unknown')) as { code: string; data: { nearest: string[] } }
      assert.equal(code, 'SERVICE_UNKNOWN')
      assert.equal(data.nearest[0], 'stock')
      assert.equal(await get('/program'), 'SERVICE_UNKNOWN')
    })

    it('can also be called by name over HTTP', async () => {
      assert.deepEqual(await get('/by-name'), { id: 4, stock: 40 })
    })

    it('can be called from outside by its contract', async () => {
      const products = client(catalog, `${url}/api`)
      assert.deepEqual(await products.product({ id: 5 }), { id: 5, stock: 50 })
      assert.equal((await safe(products.product({ id: 100 })))[0]?.code, 'NOT_FOUND')
    })

    it('answers an input that is too large with the same problem', async () => {
      const length = 1024 ** 3 / 2
      const outgoing = request(`${url}/api/catalog/slow`, { method: 'POST', headers: { 'content-length': length } })
      outgoing.setHeader('content-type', 'application/json').on('error', () => {})
      outgoing.flushHeaders()
      const [response] = await once(outgoing, 'response')
      const { value } = await response[Symbol.asyncIterator]().next()
      outgoing.destroy()
      const { status, code, service, instance } = JSON.parse(String(value)) as Record<string, unknown>
      assert.deepEqual([status, code, service, instance], [413, 'BODY_TOO_LARGE', 'catalog', undefined])
    })

    it('allows pages of origins in the config', async () => {
      const headers = { origin: 'https://page.example', 'access-control-request-method': 'GET' }
      const { status, headers: answered } = await fetch(`${url}/api/products/1`, { method: 'OPTIONS', headers })
      assert.deepEqual([status, answered.get('access-control-allow-origin')], [204, 'https://page.example'])
    })

    it('cancels calls of a client that disconnects', async () => {
      const [error] = await safe(client(catalog, `${url}/api`).slow({ name: 'outside' }, { timeout: 100 }))
      assert.equal(error?.code, 'DEADLINE_EXCEEDED')
      while (!((await get('/aborted')) as string[]).some((line) => line.startsWith('outside'))) await get('/sum')
    })

    it('leaves nothing after a stop', async () => {
      await app.stop()
      assert.ok(lines.includes('catalog is disposed'))
    })
  })
