import { catalog } from '../catalog/contract.ts'
import type { OpenStore } from '../store/store.ts'
import { cart, type Content } from './contract.ts'

const room = 50

export const cartOn = (open: OpenStore) =>
  cart.implement(({ client }) => {
    const store = open()
    const products = client(catalog)

    /** With current names and prices. */
    async function content(id: string): Promise<Content> {
      const wanted = store.lines(id)
      const known = await products.products({ ids: wanted.map(({ product }) => product) })
      const byId = new Map(known.map((product) => [product.id, product]))
      const lines = wanted.flatMap(({ product, count }) => {
        const found = byId.get(product)
        return found === undefined ? [] : [{ product, name: found.name, cents: found.cents, count }]
      })
      return { lines, cents: lines.reduce((sum, { cents, count }) => sum + cents * count, 0) }
    }

    return {
      content: ({ cart }) => content(cart),
      async put({ cart, product, count }, { fail }) {
        const [known] = await products.products({ ids: [product] })
        if (known === undefined) fail('NOT_FOUND', { product })
        const lines = store.lines(cart)
        if (lines.length >= room && !lines.some((line) => line.product === product)) fail('FULL')
        store.put(cart, product, count)
        return await content(cart)
      },
      [Symbol.dispose]: () => store[Symbol.dispose](),
    }
  })
