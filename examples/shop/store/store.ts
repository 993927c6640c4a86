import type { Product } from '../catalog/contract.ts'
import type { Order } from '../checkout/contract.ts'
import type { Level, Wanted } from '../stock/contract.ts'

/** The data of the services: in a database, or in memory if they run in a page. */
export interface Store extends Disposable {
  featured(): Product[]
  /** Products whose name or text has every word. */
  search(text: string): Product[]
  products(ids: readonly number[]): Product[]

  levels(products: readonly number[]): Level[]
  /**
   * Takes all items, once per order. If a level is too low, takes nothing and returns that level.
   */
  take(order: string, wanted: readonly Wanted[]): Level | undefined

  lines(cart: string): Wanted[]
  put(cart: string, product: number, count: number): void

  order(cart: string): Order | undefined
  addOrder(cart: string, order: Omit<Order, 'number'>): Order
}

export type OpenStore = () => Store
