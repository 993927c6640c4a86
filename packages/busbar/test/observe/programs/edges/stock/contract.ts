import { fn, service, stream } from 'busbar/contract'
import * as z from 'zod'

export const stock = service('stock', {
  count: fn({ input: z.object({ id: z.int() }), output: z.int(), errors: { GONE: { status: 410 } } }),
  broken: fn({ output: z.int() }),
  slow: fn({ output: z.int() }),
  ticks: stream({ output: z.int() }),
})
