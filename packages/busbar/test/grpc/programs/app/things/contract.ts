import { error, fn, many, service, stream } from 'busbar/contract'
import * as z from 'zod'

const Part = z.object({ name: z.string(), weight: z.number().optional() })
/** One field of each kind. */
const Thing = z.object({
  id: z.int32(),
  title: z.string(),
  isNew: z.boolean(),
  price: z.number(),
  count: z.int(),
  total: z.bigint(),
  made: z.date(),
  raw: z.instanceof(Uint8Array),
  note: z.string().optional(),
  owner: z.string().nullable(),
  parts: z.array(Part),
  sizes: z.array(z.int()),
  labels: z.record(z.string(), z.string()),
  first: Part.optional(),
  mixed: z.union([z.string(), z.number(), z.array(z.string())]),
})
export type Thing = z.infer<typeof Thing>

export const things = service(
  'things',
  {
    echo: fn({ input: Thing, output: Thing, idempotent: true }),
    find: fn({
      grpc: 'GetThing',
      input: z.object({ id: z.string().min(1) }),
      output: z.object({ id: z.string() }),
      errors: { NOT_FOUND: z.object({ id: z.string() }), BUSY: error(409) },
      idempotent: true,
    }),
    context: fn({ output: z.object({ metadata: z.record(z.string(), z.string()), timeLeft: z.number() }) }),
    slow: fn({ input: z.object({ ms: z.int() }), output: z.array(z.string()) }),
    busy: fn({ input: z.object({ ms: z.int() }) }),
    breaks: fn(),
    numbers: stream({
      input: z.object({ to: z.int(), size: z.int().optional() }),
      output: z.object({ n: z.int(), pad: z.string() }),
    }),
    sum: fn({ input: many(z.object({ n: z.int().max(1000) })), output: z.object({ total: z.int(), count: z.int() }) }),
    first: fn({ input: many(z.object({ n: z.int() })), output: z.int() }),
    doubled: stream({ input: many(z.object({ n: z.int() })), output: z.object({ n: z.int() }) }),
    cancels: fn({ output: z.int() }),
    dies: fn(),
  },
  { grpc: 'test.v1.ThingService', docs: 'One method of each kind.' },
)
