import { error, fn, service } from 'busbar/contract'
import * as z from 'zod'

/** A random id from the client, which nobody else can guess. */
const Cart = z.object({ cart: z.uuid() })

const Content = z.object({
  lines: z.array(z.object({ product: z.int(), name: z.string(), cents: z.int(), count: z.int() })),
  cents: z.int(),
})
export type Content = z.infer<typeof Content>

export const cart = service('cart', {
  content: fn({ input: Cart, output: Content, idempotent: true }),
  /** Sets the count of a product. 0 removes it. */
  put: fn({
    input: Cart.extend({ product: z.int(), count: z.int().min(0).max(99) }),
    output: Content,
    errors: { NOT_FOUND: z.object({ product: z.int() }), FULL: error(409) },
    idempotent: true,
  }),
})
