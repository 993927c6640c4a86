import { fn, service, stream } from 'busbar/contract'
import * as z from 'zod'

export const orders = service('orders', {
  place: fn({ input: z.object({ item: z.string() }), output: z.string(), errors: { SOLD_OUT: z.object({}) } }),
  committed: fn({ output: z.array(z.string()) }),
  watch: stream({ output: z.string() }),
})
