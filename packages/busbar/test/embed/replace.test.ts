/**
 * Test doubles: code of the test answers in place of a service, at every placement of its callers.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EmbeddedApp, Replacement, StartAppOptions } from '../../src/embed/embedded-app.ts'
import { startApp } from '../../src/embed/start-app.ts'
import { error, fn, service, stream, type } from '../../src/contract/index.ts'
import { folderWithBusbar, type Files, type TestFolder } from '../support/app/test-folder.ts'

const stock = service('stock', {
  reserve: fn({
    input: type<{ item: string; at?: Date }>(),
    output: type<{ left: number; at: Date | undefined }>(),
    errors: { SOLD_OUT: error(409, type<{ item: string }>()) },
  }),
  watch: stream({ input: type<number>(), output: type<bigint>() }),
  wait: fn({ output: type<string>() }),
})

const contract = `
  import { error, fn, service, stream, type } from 'busbar/contract'
  export const stock = service('stock', {
    reserve: fn({ input: type(), output: type(), errors: { SOLD_OUT: error(409, type()) } }),
    watch: stream({ input: type(), output: type() }),
    wait: fn({ output: type() }),
  })`

/** The replaced services fail the start if they are loaded. */
const files: Files = {
  'package.json': { type: 'module' },
  'busbar.config.json': {
    gateway: { port: 0, routes: { '/': 'web', '/pay': 'payments', '/stock': 'stock' } },
    services: {
      web: { path: './web', needs: ['payments'] },
      shop: { path: './shop', needs: ['stock'] },
      payments: { path: './payments', needs: ['web'], expose: 1, instances: 3, concurrency: 1 },
      stock: './stock',
    },
  },
  'web/index.js': `
    import { createServer } from 'node:http'
    createServer(async (request, response) => {
      const answer = await fetch('http://payments.internal' + request.url, { method: 'POST', body: 'ten' })
      response.writeHead(answer.status).end(await answer.text())
    }).listen(3000)`,
  'shop/contract.js': `
    import { fn, service, type } from 'busbar/contract'
    export const shop = service('shop', { buy: fn({ input: type(), output: type() }) })`,
  'shop/index.js': `
    import { client } from 'busbar/client'
    import { stock } from '../stock/contract.js'
    import { shop } from './contract.js'
    const stocks = client(stock)
    const answers = {
      reserve: (item) => stocks.reserve({ item, at: new Date(7) }),
      watch: async (count) => (await Array.fromAsync(stocks.watch(count))).map(String),
      wait: () => stocks.wait(undefined, { timeout: 50 }),
    }
    export default shop.implement({
      buy: async ({ what, input }) => {
        try {
          return await answers[what](input)
        } catch ({ code, data }) {
          return { code, data }
        }
      },
    })`,
  'payments/index.js': `throw new Error('the real payments')`,
  'stock/contract.js': contract,
  'stock/index.js': `throw new Error('the real stock')`,
}

const shop = service('shop', {
  buy: fn({ input: type<{ what: 'reserve' | 'watch' | 'wait'; input?: unknown }>(), output: type<unknown>() }),
})

const handler: Replacement = async (request, response) => {
  const text = (await request.toArray()).join('')
  response.writeHead(201).end(`${request.method} ${request.url} ${text} for ${request.headers.host}`)
}

const stocked = stock.implement({
  reserve: async ({ item, at }, { fail }) => (item === 'none' ? fail('SOLD_OUT', { item }) : { left: 3, at }),
  async *watch(count) {
    for (let at = 0; at < count; at++) yield BigInt(at)
  },
  wait: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})

async function start(
  options: StartAppOptions,
  use: (app: EmbeddedApp, folder: TestFolder) => Promise<void>,
): Promise<void> {
  using folder = folderWithBusbar(files)
  await using app = await startApp(folder.path, options)
  await use(app, folder)
}

for (const run of ['shared', 'thread', 'process'] as const)
  describe(`callers that run as ${run}`, () => {
    test('reach doubles by name, through the gateway and from the test', () =>
      start({ run, replace: { payments: handler, stock: stocked } }, async (app) => {
        const byName = await fetch(`${app.url}/a?b=1`)
        assert.deepEqual([byName.status, await byName.text()], [201, 'POST /a?b=1 ten for payments.internal'])
        assert.match(await (await fetch(`${app.url}/pay/c`)).text(), /^GET \/c {2}for /)
        assert.equal((await app.fetch('payments', '/d', { method: 'PUT', body: 'x' })).status, 201)

        const { buy } = app.client(shop)
        assert.deepEqual(await buy({ what: 'reserve', input: 'nail' }), { left: 3, at: new Date(7) })
        assert.deepEqual(await buy({ what: 'reserve', input: 'none' }), { code: 'SOLD_OUT', data: { item: 'none' } })
        assert.deepEqual(await buy({ what: 'watch', input: 3 }), ['0', '1', '2'])
        assert.equal(((await buy({ what: 'wait' })) as { code: string }).code, 'DEADLINE_EXCEEDED')
        assert.equal((await app.client(stock).reserve({ item: 'x' })).left, 3)
        const posted = await fetch(`${app.url}/stock/reserve`, {
          method: 'POST',
          body: '{"item":"x"}',
          headers: { 'content-type': 'application/json' },
        })
        assert.deepEqual(await posted.json(), { left: 3 })
      }))
  })

test('a command reaches doubles by name', async () => {
  using folder = folderWithBusbar({
    ...files,
    'web/index.js': (files['web/index.js'] as string).replace('listen(3000)', 'listen(process.env.PORT)'),
    'busbar.config.json': {
      gateway: { port: 0, entry: 'web' },
      services: {
        web: { path: './web', command: `${JSON.stringify(process.execPath)} index.js`, needs: ['payments'] },
        payments: './payments',
      },
    },
  })
  await using app = await startApp(folder.path, { replace: { payments: handler } })
  assert.equal(await (await fetch(`${app.url}/a`)).text(), 'POST /a ten for payments.internal')
})

test('a double may be a fetch handler', () =>
  start(
    {
      replace: {
        stock: stocked,
        payments: { fetch: async (request) => Response.json({ url: request.url, text: await request.text() }) },
      },
    },
    async (app) => {
      assert.deepEqual(await (await fetch(`${app.url}/a`)).json(), { url: 'http://payments.internal/a', text: 'ten' })
    },
  ))

test("an implementation's client calls services of the app", () =>
  start(
    {
      replace: {
        payments: handler,
        stock: stocked,
        shop: shop.implement(({ client }) => {
          const stocks = client(stock)
          return { buy: async () => await stocks.reserve({ item: 'by the double' }) }
        }),
      },
    },
    async (app) => {
      assert.deepEqual(await app.client(shop).buy({ what: 'wait' }), { left: 3, at: undefined })
    },
  ))

test('an error of a double becomes a 500 response with its text, and is logged', async () => {
  const lines: string[] = []
  const failing: Replacement[] = [
    () => {
      throw new Error('a mistake in the double')
    },
    async () => {
      throw new Error('a mistake in the double')
    },
    { fetch: () => Promise.reject(new Error('a mistake in the double')) },
    { fetch: (() => ({ text: 'a mistake in the double' })) as never },
  ]
  for (const payments of failing)
    await start({ replace: { payments, stock: stocked }, log: ({ line }) => lines.push(line) }, async (app) => {
      const answer = await app.fetch('payments', '/')
      assert.equal(answer.status, 500)
      assert.match(await answer.text(), /the test double of payments failed: .*a mistake in the double/)
    })
  assert.equal(lines.filter((line) => line.includes('a mistake in the double')).length, 4)
})

test('a function that returns a Response fails with a hint', () =>
  start({ replace: { payments: () => new Response('x'), stock: stocked } }, async (app) => {
    assert.match(await (await app.fetch('payments', '/')).text(), /write \{ fetch: handler \}/)
  }))

test('an unknown service name is refused with the nearest one', async () => {
  using folder = folderWithBusbar(files)
  const replace = { paymens: handler }
  await assert.rejects(startApp(folder.path, { replace }), {
    code: 'SERVICE_UNKNOWN',
    message: /replace names "paymens", which is not a service; the nearest is payments/,
  })
})

test('an implementation that throws while it starts fails the start, with the name of its service', async () => {
  using folder = folderWithBusbar(files)
  const failing = stock.implement(() => {
    throw new Error('no database')
  })
  await assert.rejects(startApp(folder.path, { replace: { payments: handler, stock: failing } }), {
    code: 'PROGRAM_THREW',
    message: /the test double of stock threw while it started: Error: no database/,
  })
})

test('doubles stay in the process of the test', () =>
  start({ replace: { payments: handler, stock: stocked } }, async (app) => {
    const refused = { code: 'OPERATION_UNSUPPORTED', message: /a test double replaces 'stock'/ }
    await assert.rejects(app.move('stock', { run: 'thread' }), refused)
    await assert.rejects(app.scale('stock', 2), refused)
  }))

test('doubles keep their state over a reload', async () => {
  let calls = 0
  const payments: Replacement = (_, response) => void response.end(`call ${++calls}`)
  await start({ replace: { payments, stock: stocked } }, async (app) => {
    assert.equal(await (await fetch(app.url)).text(), 'call 1')
    await app.reload()
    assert.equal(await (await fetch(app.url)).text(), 'call 2')
    assert.equal((await app.client(stock).reserve({ item: 'x' })).left, 3)
  })
})

test('a stop waits for the response of a double, for a limited time', async () => {
  using folder = folderWithBusbar({
    ...files,
    'busbar.config.json': { stopTimeout: 2000, gateway: { port: 0 }, services: { one: './one.js', never: './one.js' } },
  })
  const arrived = Promise.withResolvers<void>()
  await using app = await startApp(folder.path, {
    replace: {
      one: (_, response) => {
        arrived.resolve()
        setTimeout(() => response.end('late'), 300)
      },
      never: () => {},
    },
  })
  const late = app.fetch('one', '/').then((answer) => answer.text())
  const never = app.fetch('never', '/').then(
    (answer) => answer.status,
    (error: { code: string }) => error.code,
  )
  await arrived.promise
  await app.stop()
  assert.equal(await late, 'late')
  assert.ok([502, 503, 'SERVICE_UNAVAILABLE'].includes(await never), String(await never))
})
