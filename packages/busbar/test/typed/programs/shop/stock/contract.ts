import { fn, service, stream, type } from 'busbar/contract'
import * as z from 'zod'

export const stock = service('stock', {
  count: fn({ input: z.object({ id: z.int() }), output: z.int() }),
  context: fn({ output: type<Record<string, unknown>>() }),
  hang: fn({ input: type<string>() }),
  aborted: fn({ output: type<string[]>() }),
  around: fn({ output: type<number>() }),
  ticks: stream({ output: z.int() }),
})
