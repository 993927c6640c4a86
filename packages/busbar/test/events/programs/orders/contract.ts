import { service, topic } from 'busbar/contract'
import * as z from 'zod'

export const orders = service('orders', {
  placed: topic(
    z.object({ id: z.int(), at: z.date(), amount: z.string().transform(Number), data: z.instanceof(Uint8Array) }),
  ),
  billed: topic(z.object({ id: z.int() })),
  unheard: topic(z.object({ id: z.int() })),
  opened: topic(z.object({})),
  failing: topic(z.object({ id: z.int() })),
})
