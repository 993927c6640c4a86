import { fn, service } from 'busbar/contract'
import * as z from 'zod'

export const notes = service('notes', {
  read: fn({ http: 'GET /by/{id}', input: z.object({ id: z.string() }), output: z.string() }),
  count: fn({ output: z.int() }),
})
