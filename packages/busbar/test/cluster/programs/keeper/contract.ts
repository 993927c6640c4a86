import { fn, service, stream } from 'busbar/contract'
import * as z from 'zod'

export const keeper = service('keeper', {
  /** The instance that has the key. */
  where: fn({ input: z.object({ name: z.string() }), output: z.int(), key: ({ name }) => name }),
  who: fn({ output: z.string(), idempotent: true }),
  waits: fn({ output: z.string() }),
  ticks: stream({ output: z.int() }),
})
