import { fn, service } from 'busbar/contract'
import * as z from 'zod'

export const mail = service('mail', {
  send: fn({ input: z.object({ id: z.string(), failures: z.int().default(0) }), queue: true }),
  /** The other version has no such method. */
  gone: fn({ input: z.object({ id: z.string() }), queue: true }),
  /** Enqueues so many items. */
  load: fn({ input: z.object({ prefix: z.string(), count: z.int() }) }),
})
