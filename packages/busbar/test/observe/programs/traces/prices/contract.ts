import { fn, service } from 'busbar/contract'
import * as z from 'zod'

export const prices = service('prices', {
  price: fn({ output: z.string() }),
  slow: fn({ output: z.number() }),
})
