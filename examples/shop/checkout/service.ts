import { safe } from 'busbar/client'
import { cart } from '../cart/contract.ts'
import { stock } from '../stock/contract.ts'
import type { OpenStore } from '../store/store.ts'
import { checkout } from './contract.ts'

export const checkoutOn = (open: OpenStore) =>
  checkout.implement(({ client, log }) => {
    const store = open()
    const carts = client(cart)
    const stocks = client(stock)
    return {
      async order({ cart, name, email }, { fail }) {
        const known = store.order(cart)
        if (known !== undefined) return known
        const { lines, cents } = await carts.content({ cart })
        if (lines.length === 0) fail('EMPTY')
        const wanted = lines.map(({ product, count }) => ({ product, count }))
        // A later failure can be retried, since stock is taken once per cart.
        const [error] = await safe(stocks.take({ order: cart, wanted }))
        if (error?.code === 'SOLD_OUT') {
          const { product, left } = error.data
          fail('SOLD_OUT', { name: lines.find((line) => line.product === product)!.name, left })
        }
        if (error !== undefined) throw error
        const order = store.addOrder(cart, { name, email, cents })
        log.info(`order ${order.number}: ${lines.length} products for ${cents / 100}`)
        return order
      },
      [Symbol.dispose]: () => store[Symbol.dispose](),
    }
  })
