import { fn, service } from 'busbar/contract'
import * as z from 'zod'

export const Product = z.object({
  id: z.int(),
  name: z.string(),
  text: z.string(),
  cents: z.int(),
  /** Its drawing and hue. */
  picture: z.enum(['lamp', 'chair', 'mug', 'vase', 'clock', 'plant', 'shelf', 'bowl']),
  hue: z.int(),
})
export type Product = z.infer<typeof Product>

const Listed = Product.extend({ left: z.int() })
export type Listed = z.infer<typeof Listed>

export const catalog = service('catalog', {
  featured: fn({ output: z.array(Listed), idempotent: true }),
  search: fn({ input: z.object({ text: z.string().max(100) }), output: z.array(Listed), idempotent: true }),
  /** The products that exist. */
  products: fn({ input: z.object({ ids: z.array(z.int()).max(100) }), output: z.array(Product), idempotent: true }),
})
