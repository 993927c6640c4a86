import { fn, service } from 'busbar/contract'
import * as z from 'zod'

const Product = z.object({ id: z.int(), name: z.string() }).meta({ id: 'Product' })

export const catalog = service('catalog', {
  product: fn({ input: z.object({ id: z.int() }), output: Product, http: 'GET /products/{id}' }),
  featured: fn({ output: z.array(Product), docs: 'What is on the first page' }),
})
