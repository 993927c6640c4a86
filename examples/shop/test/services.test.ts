import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { client, safe, type Client } from 'busbar/client'
import type { Implementation } from 'busbar/contract'
import { cart } from '../cart/contract.ts'
import { cartOn } from '../cart/service.ts'
import { catalog } from '../catalog/contract.ts'
import { catalogOn } from '../catalog/service.ts'
import { checkout } from '../checkout/contract.ts'
import { checkoutOn } from '../checkout/service.ts'
import { stock } from '../stock/contract.ts'
import { stockOn } from '../stock/service.ts'
import { openMemory } from '../store/memory.ts'
import { Shop } from './app.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

type Target = string | readonly Implementation[]

/** How to open each kind of shop. The tests are the same for both. */
const kinds: Record<string, (open: AsyncDisposableStack) => Promise<Target>> = {
  'over HTTP, on a database': async (open) => `${open.use(await Shop.open()).url}/api`,
  'in this thread, in memory': async () => {
    const store = openMemory()
    return [catalogOn, stockOn, cartOn, checkoutOn].map((on) => on(() => store) as Implementation)
  },
}

for (const [kind, target] of Object.entries(kinds))
  describe(`the shop ${kind}`, () => {
    const open = new AsyncDisposableStack()
    let products: Client<(typeof catalog)['methods']>
    let stocks: Client<(typeof stock)['methods']>
    let carts: Client<(typeof cart)['methods']>
    let checkouts: Client<(typeof checkout)['methods']>

    before(async () => {
      const at = await target(open)
      products = open.use(client(catalog, at, { log: quiet }))
      stocks = open.use(client(stock, at, { log: quiet }))
      carts = open.use(client(cart, at, { log: quiet }))
      checkouts = open.use(client(checkout, at, { log: quiet }))
    })
    after(() => open.disposeAsync())

    const buyer = { name: ' Ada ', email: 'ada@example.org' }

    it('features six products with their stock', async () => {
      const featured = await products.featured()
      assert.deepEqual([featured.length, featured[0]!.name, featured[5]!.left], [6, 'Harbour lamp', 3])
    })

    it('finds products by all words of a search, literally', async () => {
      const names = async (text: string): Promise<string[]> => (await products.search({ text })).map(({ name }) => name)
      assert.deepEqual(await names(' LAMP warm '), ['Harbour lamp'])
      assert.equal((await names('')).length, 16)
      for (const text of ['%', '_', "' OR 1=1 --", 'lamp chair']) assert.deepEqual(await names(text), [], text)
    })

    it('keeps a cart with the last count of each product, in order, with prices', async () => {
      const id = randomUUID()
      await carts.put({ cart: id, product: 3, count: 2 })
      await carts.put({ cart: id, product: 1, count: 1 })
      await carts.put({ cart: id, product: 2, count: 1 })
      await carts.put({ cart: id, product: 2, count: 0 })
      const { lines, cents } = await carts.put({ cart: id, product: 3, count: 4 })
      assert.deepEqual(
        lines.map(({ name, count }) => [name, count]),
        [
          ['Morning mug', 4],
          ['Harbour lamp', 1],
        ],
      )
      assert.equal(cents, 4 * 1900 + 8900)
      assert.deepEqual(await carts.content({ cart: id }), { lines, cents })
      assert.equal((await safe(carts.put({ cart: id, product: 99, count: 1 })))[0]?.code, 'NOT_FOUND')
    })

    it('sells once, however often it is called', async () => {
      const id = randomUUID()
      await carts.put({ cart: id, product: 4, count: 2 })
      const orders = await Promise.all([1, 2, 3].map(() => checkouts.order({ cart: id, ...buyer })))
      assert.deepEqual(new Set(orders.map(({ number }) => number)).size, 1)
      assert.deepEqual([orders[0]!.name, orders[0]!.cents], ['Ada', 2 * 6400])
      assert.deepEqual(await stocks.levels({ products: [4] }), [{ product: 4, left: 7 }])
    })

    it('sells all of a cart or nothing', async () => {
      const id = randomUUID()
      await carts.put({ cart: id, product: 5, count: 1 })
      await carts.put({ cart: id, product: 6, count: 4 })
      const [error] = await safe(checkouts.order({ cart: id, ...buyer }))
      assert.deepEqual(error?.code === 'SOLD_OUT' && error.data, { name: 'Slim shelf', left: 3 })
      assert.deepEqual(await stocks.levels({ products: [5, 6] }), [
        { product: 5, left: 23 },
        { product: 6, left: 3 },
      ])
      await carts.put({ cart: id, product: 6, count: 3 })
      assert.equal((await checkouts.order({ cart: id, ...buyer })).cents, 2900 + 3 * 7200)
    })

    it('reports errors of an order', async () => {
      const id = randomUUID()
      assert.equal((await safe(checkouts.order({ cart: id, ...buyer })))[0]?.code, 'EMPTY')
      const [error] = await safe(checkouts.order({ cart: id, name: ' ', email: 'ada' }))
      assert.deepEqual(error?.code === 'INPUT_INVALID' && error.data.issues.map(({ path }) => path), [
        ['name'],
        ['email'],
      ])
    })

    it('streams changes of the stock', async () => {
      const seen: number[] = []
      for await (const levels of stocks.watch({ products: [7] })) {
        seen.push(levels[0]!.left)
        if (seen.length === 2) break
        const id = randomUUID()
        await carts.put({ cart: id, product: 7, count: 5 })
        await checkouts.order({ cart: id, ...buyer })
      }
      assert.deepEqual(seen, [12, 7])
    })
  })

describe('the database of the shop', () => {
  it('is filled once by the first service or worker', async () => {
    await using shop = await Shop.open({ workers: 2 })
    const products = client(catalog, `${shop.url}/api`)
    assert.equal((await products.search({ text: '' })).length, 16)
  })

  it('sells the last item once to concurrent buyers', async () => {
    await using shop = await Shop.open({ workers: 2 })
    const at = `${shop.url}/api`
    const buy = async (): Promise<string | undefined> => {
      const id = randomUUID()
      await client(cart, at).put({ cart: id, product: 14, count: 1 })
      const [error] = await safe(client(checkout, at).order({ cart: id, name: 'Ada', email: 'ada@example.org' }))
      return error?.code
    }
    const outcomes = await Promise.all(Array.from({ length: 20 }, buy))
    assert.equal(outcomes.filter((code) => code === undefined).length, 2)
    assert.equal(outcomes.filter((code) => code === 'SOLD_OUT').length, 18)
  })

  it('survives a restart of the shop', async () => {
    await using shop = await Shop.open()
    const id = randomUUID()
    await client(cart, `${shop.url}/api`).put({ cart: id, product: 1, count: 1 })
    await shop.stop()
    await shop.start()
    const { lines } = await client(cart, `${shop.url}/api`).content({ cart: id })
    assert.equal(lines[0]?.name, 'Harbour lamp')
    await shop.stop()
    using database = new DatabaseSync(shop.database, { readOnly: true })
    assert.deepEqual({ ...database.prepare('PRAGMA user_version').get() }, { user_version: 2 })
  })
})

it('has an OpenAPI document with the methods at the paths that the page uses', async () => {
  await using shop = await Shop.open()
  const document = (await (await fetch(new URL('/openapi.json', shop.url))).json()) as { paths: object }
  const contracts = Object.values({ catalog, stock, cart, checkout })
  const paths = contracts.flatMap(({ name, methods }) => Object.keys(methods).map((method) => `/api/${name}/${method}`))
  assert.deepEqual(Object.keys(document.paths).toSorted(), paths.toSorted())
})

it('has the config that its README shows', async () => {
  const [config, readme] = await Promise.all(
    ['busbar.config.ts', 'README.md'].map((file) => readFile(join(import.meta.dirname, '..', file), 'utf8')),
  )
  const [, shown] = /\(busbar\.config\.ts\).*?```ts\n(.*?)```/s.exec(readme!)!
  assert.ok(config!.includes(shown!), 'README.md shows another config')
})
