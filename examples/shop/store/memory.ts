import type { Order } from '../checkout/contract.ts'
import { seed, type Seed } from './seed.ts'
import type { Store } from './store.ts'

/** Replaces the database while the page is open. */
export function openMemory(): Store {
  const products = new Map(seed.map((product) => [product.id, { ...product }]))
  const carts = new Map<string, Map<number, number>>()
  const orders = new Map<string, Order>()
  const taken = new Set<string>()
  const known = (ids: readonly number[]): Seed[] => ids.flatMap((id) => products.get(id) ?? [])
  return {
    featured: () => [...products.values()].filter(({ featured }) => featured),
    search(text) {
      const words = text.toLowerCase().split(/\s+/)
      const matches = ({ name, text }: Seed): boolean => {
        const content = `${name} ${text}`.toLowerCase()
        return words.every((word) => content.includes(word))
      }
      return [...products.values()].filter(matches)
    },
    products: known,
    levels: (ids) => known(ids).map(({ id, left }) => ({ product: id, left })),
    take(order, wanted) {
      if (taken.has(order)) return undefined
      const left = (id: number): number => products.get(id)?.left ?? 0
      const short = wanted.find(({ product, count }) => left(product) < count)
      if (short !== undefined) return { product: short.product, left: left(short.product) }
      for (const { product, count } of wanted) products.get(product)!.left -= count
      taken.add(order)
      return undefined
    },
    lines: (cart) => [...(carts.get(cart) ?? [])].map(([product, count]) => ({ product, count })),
    put(cart, product, count) {
      const lines = carts.get(cart) ?? new Map<number, number>()
      if (count === 0) lines.delete(product)
      else lines.set(product, count)
      carts.set(cart, lines)
    },
    order: (cart) => orders.get(cart),
    addOrder(cart, content) {
      const known = orders.get(cart)
      if (known !== undefined) return known
      const order = { number: 1000 + orders.size + 1, ...content }
      orders.set(cart, order)
      return order
    },
    [Symbol.dispose]() {},
  }
}
