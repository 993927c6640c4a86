import { fn, service } from 'busbar/contract'
import * as z from 'zod'

const input = z.object({ id: z.string() })

export const prices = service('prices', {
  held: fn({ input, output: z.string(), idempotent: true }),
  quick: fn({ input, output: z.string(), idempotent: true }),
  exit: fn({ input, output: z.string() }),
})
