import { stock } from '../stock/contract.ts'
import type { OpenStore } from '../store/store.ts'
import { catalog, type Listed, type Product } from './contract.ts'

export const catalogOn = (open: OpenStore) =>
  catalog.implement(({ client }) => {
    const store = open()
    const stocks = client(stock)

    async function listed(products: readonly Product[]): Promise<Listed[]> {
      const levels = await stocks.levels({ products: products.map(({ id }) => id) })
      const left = new Map(levels.map(({ product, left }) => [product, left]))
      return products.map((product) => ({ ...product, left: left.get(product.id) ?? 0 }))
    }

    return {
      featured: () => listed(store.featured()),
      search: ({ text }) => listed(store.search(text.trim())),
      products: ({ ids }) => store.products(ids),
      [Symbol.dispose]: () => store[Symbol.dispose](),
    }
  })
