import { error, fn, service } from 'busbar/contract'
import * as z from 'zod'

const Order = z.object({ number: z.int(), name: z.string(), email: z.string(), cents: z.int() })
export type Order = z.infer<typeof Order>

export const checkout = service('checkout', {
  /** Orders a cart. Repeated calls return the same order. */
  order: fn({
    input: z.object({ cart: z.uuid(), name: z.string().trim().min(1).max(100), email: z.email().max(200) }),
    output: Order,
    errors: { EMPTY: error(409), SOLD_OUT: error(409, z.object({ name: z.string(), left: z.int() })) },
    idempotent: true,
  }),
})
