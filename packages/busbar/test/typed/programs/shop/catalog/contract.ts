import { fn, service, type } from 'busbar/contract'
import * as z from 'zod'

export const catalog = service('catalog', {
  product: fn({
    input: z.object({ id: z.int() }),
    output: z.object({ id: z.int(), stock: z.int() }),
    errors: { NOT_FOUND: z.object({ id: z.int() }) },
    http: 'GET /products/{id}',
  }),
  inherited: fn({ output: type<unknown>() }),
  slow: fn({ input: z.object({ name: z.string() }), output: type<unknown>() }),
  exits: fn(),
})
