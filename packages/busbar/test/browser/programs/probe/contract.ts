import { fn, service, stream, type } from 'busbar/contract'
import * as z from 'zod'

/**
 * What a page asks of a service: each method does one thing that a browser could do differently.
 */
export const probe = service('probe', {
  add: fn({ input: z.object({ a: z.int(), b: z.int() }), output: z.int() }),
  echo: fn({ input: type<unknown>(), output: type<unknown>() }),
  product: fn({
    input: z.object({ id: z.int() }),
    output: z.object({ id: z.int(), name: z.string() }),
    errors: { NOT_FOUND: z.object({ id: z.int() }) },
    http: 'GET /products/{id}',
  }),
  label: fn({ input: z.object({ text: z.string() }), output: z.string(), http: 'GET /labels/{text}' }),
  count: stream({ input: z.object({ to: z.int() }), output: z.int(), http: 'GET /count/{to}' }),
  endless: stream({ input: z.object({ name: z.string() }), output: z.int() }),
  hang: fn({ input: z.object({ name: z.string() }), output: z.int() }),
  /** Resolves when `hang` runs under this name. */
  began: fn({ input: z.object({ name: z.string() }) }),
  /** Resolves when what runs under this name has been left. */
  left: fn({ input: z.object({ name: z.string() }), output: z.string() }),
  caller: fn({ output: z.object({ language: z.string().optional() }) }),
})
