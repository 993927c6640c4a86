import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { client, safe } from '../../src/contract/client-entry.ts'
import { startApp } from '../../src/supervisor/supervisor.ts'
import type { RunningApp } from '../../src/supervisor/running.ts'
import { calc } from './programs/shop/calc/contract.ts'
import { catalog } from './programs/shop/catalog/contract.ts'

const programs = new URL('programs', import.meta.url).pathname

/** The same app, and the same answers, wherever its typed services are. */
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
      app = await startApp(await loadApp(join(programs, name!), { env: {} }), {
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

    it('knows them by their contract', async () => {
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

    it('gives programs the same errors as any caller', async () => {
      assert.deepEqual(await get('/missing'), { status: 404, data: { id: 100 } })
      assert.equal(await get('/invalid'), 'INPUT_INVALID')
    })

    it('says who calls, and lets nothing of the caller’s async context through', async () => {
      assert.deepEqual(await get('/context'), { caller: 'web', limited: false })
    })

    it('hands a deadline on to the calls that a call causes', async () => {
      assert.deepEqual(await get('/inherited'), { caller: 'catalog', limited: true })
    })

    it('ends the calls that a call caused when it ends', async () => {
      assert.equal(await get('/slow'), 'DEADLINE_EXCEEDED')
      // The caller knows of the end by itself, and the callee elsewhere hears of it later.
      const hasEnded = async (): Promise<boolean> =>
        ((await get('/aborted')) as string[]).some((line) => line.startsWith('web DEADLINE'))
      while (!(await hasEnded())) await sleep(5)
    })

    it('stops a chain of calls that goes around', async () => {
      assert.equal(((await get('/around')) as { code: string }).code, 'INTERNAL')
      assert.ok(lines.some((line) => line.includes('is number 17 of a chain')))
    })

    it('streams to programs', async () => {
      assert.deepEqual(await get('/ticks'), [1, 2, 3])
    })

    it('serves a plain class, a fresh one for each call', async () => {
      assert.deepEqual(await get('/sum'), [3, 3])
      const sums = client(calc, `${url}/calc`, { service: 'sums' })
      assert.equal(await sums.add(2, 3), 5)
      assert.equal(await sums.inherited(), 'of Base')
      for (const name of ['_secret', 'constructor', 'toString', 'total'])
        assert.equal((await fetch(`${url}/calc/sums/${name}`, { method: 'POST' })).status, 404, name)
    })

    it('says at the start that a contract has another name', () => {
      assert.ok(lines.some((line) => line.includes('contract is named calc, and the config calls it sums')))
    })

    it('names the nearest service, and tells programs from typed services', async () => {
      const { code, data } = (await get('/unknown')) as { code: string; data: { nearest: string[] } }
      assert.equal(code, 'SERVICE_UNKNOWN')
      assert.equal(data.nearest[0], 'stock')
      assert.equal(await get('/program'), 'SERVICE_UNKNOWN')
    })

    it('is reached by name over HTTP, too', async () => {
      assert.deepEqual(await get('/by-name'), { id: 4, stock: 40 })
    })

    it('is reached from outside by its contract', async () => {
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

    it('lets the pages of origins call that the config lists', async () => {
      const headers = { origin: 'https://page.example', 'access-control-request-method': 'GET' }
      const { status, headers: answered } = await fetch(`${url}/api/products/1`, { method: 'OPTIONS', headers })
      assert.deepEqual([status, answered.get('access-control-allow-origin')], [204, 'https://page.example'])
    })

    it('tells the services when a client from outside gives up', async () => {
      const [error] = await safe(client(catalog, `${url}/api`).slow({ name: 'outside' }, { timeout: 100 }))
      assert.equal(error?.code, 'DEADLINE_EXCEEDED')
      while (!((await get('/aborted')) as string[]).some((line) => line.startsWith('outside'))) await get('/sum')
    })

    it('outlives nothing of a stop', async () => {
      await app.stop()
      assert.ok(lines.includes('catalog is disposed'))
    })
  })
