import { fn, service } from 'busbar/contract'
import * as z from 'zod'

export const mail = service('mail', {
  send: fn({
    input: z.object({ id: z.string(), failures: z.int().default(0), note: z.string().optional() }),
    queue: true,
  }),
  /** The other version has no such methods. */
  fresh: fn({ input: z.object({ id: z.string() }), queue: true }),
  bare: fn({ queue: true }),
  /** Enqueues so many items. */
  load: fn({ input: z.object({ prefix: z.string(), count: z.int() }) }),
})
