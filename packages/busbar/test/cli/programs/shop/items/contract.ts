import { service, fn, stream } from 'busbar/contract'
import * as z from 'zod'
export const items = service('items', {
  item: fn({
    input: z.object({ id: z.number() }),
    output: z.object({ id: z.number(), name: z.string() }),
    errors: { GONE: { status: 410, data: z.object({ id: z.number() }) } },
    http: 'GET /items/{id}',
  }),
  all: stream({ input: z.object({ count: z.number() }), output: z.number() }),
  when: fn({ output: z.date() }),
})
