import { error, fn, service, stream } from 'busbar/contract'
import * as z from 'zod'

const Level = z.object({ product: z.int(), left: z.int() })
export type Level = z.infer<typeof Level>

export const Wanted = z.object({ product: z.int(), count: z.int().min(1).max(99) })
export type Wanted = z.infer<typeof Wanted>

const Products = z.object({ products: z.array(z.int()).max(100) })

export const stock = service('stock', {
  levels: fn({ input: Products, output: z.array(Level), idempotent: true }),
  /** The current levels, and again after each change. */
  watch: stream({ input: Products, output: z.array(Level) }),
  /** Takes all items or none, once per order however often it is called. */
  take: fn({
    input: z.object({ order: z.uuid(), wanted: z.array(Wanted).min(1).max(50) }),
    errors: { SOLD_OUT: error(409, Level) },
    idempotent: true,
  }),
})
