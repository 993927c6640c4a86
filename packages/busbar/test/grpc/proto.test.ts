import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { toJsonSchema as valibot } from '@valibot/to-json-schema'
import * as z from 'zod'
import { fn, service, stream } from '../../src/contract/index.ts'
import { Codecs } from '../../src/contract/protobuf/codec.ts'
import { descriptorBytes, toDescriptor } from '../../src/contract/protobuf/descriptors.ts'
import { toLock } from '../../src/contract/protobuf/lock.ts'
import { parseLock } from '../../src/contract/protobuf/parse-lock.ts'
import { printProto } from '../../src/contract/protobuf/print.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import { definitionOf } from './support/stub.ts'

const Item = z.object({ id: z.int32(), name: z.string() }).meta({ id: 'Item', description: 'One item.' })

const items = service(
  'items',
  {
    add: fn({ grpc: 'CreateItem', input: Item, output: Item, docs: 'Keeps an item.' }),
    list: fn({ grpc: 'ListItems', input: z.object({ limit: z.int().optional() }), output: z.array(Item) }),
    watch: stream({ output: Item }),
    clear: fn(),
  },
  { grpc: 'rpz.ItemService' },
)

describe('the protobuf form of a contract', () => {
  it('is the text of a .proto file', () => {
    assert.equal(printProto(toProtoFile(items)), expected)
  })

  it('has names of its own without options', () => {
    const file = toProtoFile(service('shop-cart', { addItem: fn({ input: z.object({ itemId: z.string() }) }) }))
    assert.match(
      printProto(file),
      /package shop_cart;.*service ShopCartService \{\n {2}rpc AddItem\(AddItemRequest\).* item_id = 1;/s,
    )
  })

  it('says what a message is at the message, and what a field is at the field', () => {
    const Part = z.object({ id: z.string() }).meta({ id: 'Part', description: 'A part.' })
    const input = z.object({ first: Part, last: Part.describe('The last part.'), all: z.array(Part).describe('All.') })
    const { messages } = toProtoFile(service('s', { m: fn({ input }) }))
    const { fields } = messages.get('MRequest')!
    assert.deepEqual(
      fields.map(({ name, docs }) => [name, docs]),
      [
        ['first', undefined],
        ['last', 'The last part.'],
        ['all', 'All.'],
      ],
    )
    assert.equal(messages.get('Part')!.docs, 'A part.')
  })

  it('has the names that a style guide would give', () => {
    const input = z.object({
      retryAfter: z.int(),
      HTTPServer: z.int(),
      userID: z.int(),
      x1: z.int(),
      snake_case: z.int(),
    })
    const { messages } = toProtoFile(service('s', { m: fn({ input }) }))
    const names = messages.get('MRequest')!.fields.map(({ name }) => name)
    assert.deepEqual(names, ['retry_after', 'http_server', 'user_id', 'x1', 'snake_case'])
  })

  it('is the same for Zod and Valibot', () => {
    const withZod = service('s', {
      m: fn({ input: z.object({ a: z.string(), b: z.number().optional(), c: z.array(z.boolean()) }) }),
    })
    const withValibot = service('s', {
      m: fn({ input: v.object({ a: v.string(), b: v.optional(v.number()), c: v.array(v.boolean()) }) }),
    })
    assert.equal(printProto(toProtoFile(withValibot, { valibot })), printProto(toProtoFile(withZod)))
  })

  it('is read by another parser', async () => {
    const definition = await definitionOf(printProto(toProtoFile(items)), 'rpz.ItemService')
    assert.deepEqual(Object.keys(definition.service), ['CreateItem', 'ListItems', 'Watch', 'Clear'])
  })

  it('has values of any kind where protobuf has no type', () => {
    const input = z.object({
      one: z.union([z.string(), z.number()]),
      pair: z.tuple([z.string(), z.int()]),
      maybe: z.string().nullish(),
    })
    const text = printProto(toProtoFile(service('s', { m: fn({ input }) })))
    for (const name of ['one', 'pair', 'maybe']) assert.match(text, new RegExp(`google.protobuf.Value ${name} =`))
  })

  it('contains itself where its schema does', () => {
    const Node = z.object({
      name: z.string(),
      get children() {
        return z.array(Node)
      },
    })
    const file = toProtoFile(service('s', { m: fn({ input: Node, output: Node }) }))
    const codec = new Codecs(file.messages).of(file.methods[0]!.request)
    const tree = { name: 'a', children: [{ name: 'b', children: [{ name: 'c', children: [] }] }] }
    assert.deepEqual(codec.decode(codec.encode(tree)), tree)
  })
})

describe('the lock', () => {
  const first = service('s', { m: fn({ input: z.object({ a: z.string(), b: z.int() }) }) })
  const lock = toLock(toProtoFile(first), undefined)
  const numbersOf = (contract: Parameters<typeof toProtoFile>[0]): Record<string, number> =>
    Object.fromEntries(
      toProtoFile(contract, { lock })
        .messages.get('MRequest')!
        .fields.map(({ name, number }) => [name, number]),
    )

  it('keeps the numbers of fields, wherever they stand', () => {
    const later = service('s', { m: fn({ input: z.object({ c: z.string(), b: z.int(), a: z.string() }) }) })
    assert.deepEqual(numbersOf(later), { c: 3, b: 2, a: 1 })
  })

  it('reserves what is removed, for ever', () => {
    const without = service('s', { m: fn({ input: z.object({ b: z.int() }) }) })
    const file = toProtoFile(without, { lock })
    assert.match(printProto(file), /reserved 1;\n {2}reserved "a";/)
    const next = toLock(file, lock)
    const added = service('s', { m: fn({ input: z.object({ b: z.int(), d: z.int() }) }) })
    assert.equal(toProtoFile(added, { lock: next }).messages.get('MRequest')!.fields.at(-1)!.number, 3)
    assert.deepEqual(toLock(toProtoFile(added, { lock: next }), next).messages['MRequest']!['a'], {
      number: 1,
      type: 'string',
      removed: true,
    })
  })

  it('lets a field become optional', () => {
    assert.deepEqual(
      numbersOf(service('s', { m: fn({ input: z.object({ a: z.string().optional(), b: z.int() }) }) })),
      { a: 1, b: 2 },
    )
  })

  it('refuses another type, another message and another name, and says what to do', () => {
    const incompatible: [Parameters<typeof toProtoFile>[0], RegExp][] = [
      [
        service('s', { m: fn({ input: z.object({ a: z.int(), b: z.int() }) }) }),
        /field 1 of MRequest, a, was 'string'.*now 'int64'/,
      ],
      [service('s', { m: fn({ input: z.object({ a: z.array(z.string()), b: z.int() }) }) }), /now 'repeated string'/],
      [
        service('s', { m: stream({ input: z.object({ a: z.string(), b: z.int() }) }) }),
        /m was .*|M was \(MRequest\) returns \(MResponse\)/,
      ],
      [
        service('s', { m: first.methods.m }, { grpc: 'other.Name' }),
        /its gRPC service was s\.SService, and is now other\.Name/,
      ],
    ]
    for (const [contract, message] of incompatible)
      assert.throws(
        () => toProtoFile(contract, { lock }),
        (error: { code?: string; message: string; hint?: string }) => {
          assert.equal(error.code, 'PROTO_INCOMPATIBLE')
          assert.match(error.message, message)
          assert.ok(error.hint)
          return true
        },
      )
  })

  it('is refused if it is damaged', () => {
    for (const text of ['', '{}', '[]', '{"service":"a","methods":{},"messages":{"M":{"a":{}}}}'])
      assert.throws(() => parseLock(text, 'proto.lock.json'), { code: 'CONTRACT_INVALID' }, text)
    for (const number of [0, -1, 1.5, 2 ** 29, 19_000, 19_999]) {
      const text = JSON.stringify({ ...lock, messages: { M: { a: { number, type: 'string' } } } })
      assert.throws(() => parseLock(text, 'proto.lock.json'), { code: 'CONTRACT_INVALID' }, text)
    }
    const method = JSON.stringify({ ...lock, methods: { M: { request: 'MRequest' } } })
    assert.throws(() => parseLock(method, 'proto.lock.json'), { code: 'CONTRACT_INVALID' })
    assert.deepEqual(parseLock(JSON.stringify(lock), ''), lock)
  })

  it('is refused if two branches have given one number to two fields', () => {
    const added = { number: 3, type: 'string' }
    const merged = { ...lock, messages: { MRequest: { ...lock.messages['MRequest'], ours: added, theirs: added } } }
    assert.throws(() => parseLock(JSON.stringify(merged), 'shop/proto.lock.json'), {
      code: 'CONTRACT_INVALID',
      message: 'shop/proto.lock.json gives ours and theirs of MRequest the same number, 3',
    })
  })
})

describe('names in protobuf', () => {
  it('are refused if they are none', () => {
    assert.throws(() => service('s', {}, { grpc: 'NoPackage' }), { code: 'CONTRACT_INVALID' })
    assert.throws(() => fn({ grpc: 'lower' }), { code: 'CONTRACT_INVALID' })
    const twice = service('s', { one: fn({ grpc: 'Same' }), two: fn({ grpc: 'Same' }) })
    assert.throws(() => toProtoFile(twice), { code: 'CONTRACT_INVALID' })
  })
})

it('a descriptor has bytes', () => {
  assert.ok(descriptorBytes(toDescriptor(toProtoFile(items))).length > 100)
})

const expected = `syntax = "proto3";

package rpz;

service ItemService {
  // Keeps an item.
  rpc CreateItem(Item) returns (Item);
  rpc ListItems(ListItemsRequest) returns (ListItemsResponse);
  rpc Watch(WatchRequest) returns (stream Item);
  rpc Clear(ClearRequest) returns (ClearResponse);
}

// One item.
message Item {
  int32 id = 1;
  string name = 2;
}

message ListItemsRequest {
  optional int64 limit = 1;
}

message ListItemsResponse {
  repeated Item items = 1;
}

message WatchRequest {}

message ClearRequest {}

message ClearResponse {}
`
