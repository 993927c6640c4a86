import { error, fn, service } from 'busbar/contract'
import * as z from 'zod'

const Id = z.string().min(1).max(64)
const Item = z.object({ id: Id, name: z.string().max(256) }).meta({ id: 'Item' })
export type Item = z.infer<typeof Item>

export const items = service(
  'items',
  {
    add: fn({
      input: Item,
      output: Item,
      errors: { FULL: error(409) },
      idempotent: true,
      http: 'POST /rpz/items',
      status: 201,
      grpc: 'CreateItem',
      docs: 'Keeps an item, in place of the one that had its id.',
    }),
    item: fn({
      input: z.object({ id: Id }),
      output: Item,
      errors: { NOT_FOUND: z.object({ id: Id }) },
      idempotent: true,
      http: 'GET /rpz/items/{id}',
      grpc: 'GetItem',
    }),
    list: fn({
      input: z.object({ limit: z.int().min(1).optional() }),
      output: z.array(Item),
      idempotent: true,
      http: 'GET /rpz/items',
      grpc: 'ListItems',
      docs: 'In the order in which they came.',
    }),
  },
  { grpc: 'rpz.ItemService' },
)
