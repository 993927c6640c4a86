import { fn, service, stream } from 'busbar/contract'
import * as z from 'zod'

export const things = service('things', {
  echo: fn({ input: z.object({ text: z.string(), more: z.any().optional() }), output: z.any() }),
  none: fn({ output: z.string(), idempotent: true }),
  thing: fn({ input: z.object({ id: z.int() }), output: z.any(), http: 'GET /things/{id}' }),
  name: fn({ input: z.object({ name: z.string() }), output: z.any(), http: 'GET /names/{name}' }),
  ticks: stream({ input: z.object({ count: z.int().max(9) }), output: z.int(), http: 'GET /ticks/{count}' }),
})
