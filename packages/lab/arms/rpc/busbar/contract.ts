/** The route of `../fastify.ts` as a contract. */
import { fn, service } from 'busbar/contract'
import * as z from 'zod'

const product = z.object({
  id: z.int32(),
  name: z.string(),
  category: z.string(),
  cents: z.int32(),
  stock: z.int32(),
})
const input = z.strictObject({ limit: z.int32().min(1).max(100) })
const output = z.object({ products: z.array(product) })

export const catalog = service(
  'catalog',
  {
    constant: fn({ input, output }),
    stored: fn({ input, output }),
    ready: fn({ output: z.string(), http: 'GET /ready' }),
  },
  { grpc: 'lab.v1.Catalog' },
)
