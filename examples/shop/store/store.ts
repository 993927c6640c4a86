import type { Product } from '../catalog/contract.ts'
import type { Order } from '../checkout/contract.ts'
import type { Level, Wanted } from '../stock/contract.ts'

/** What the services keep: in a database, or in memory where they run in a page. Each uses its own part of it. */
export interface Store extends Disposable {
  featured(): Product[]
  /** Those whose name or text has every word. */
  search(text: string): Product[]
  products(ids: readonly number[]): Product[]

  levels(products: readonly number[]): Level[]
  /** Takes all of it, once for each order; else nothing, and returns the level that is too low. */
  take(order: string, wanted: readonly Wanted[]): Level | undefined

  lines(cart: string): Wanted[]
  put(cart: string, product: number, count: number): void

  order(cart: string): Order | undefined
  addOrder(cart: string, order: Omit<Order, 'number'>): Order
}

export type OpenStore = () => Store
