import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import * as v from 'valibot'
import { toJsonSchema as valibot } from '@valibot/to-json-schema'
import * as z from 'zod'
import { fn, service, stream } from '../../src/contract/index.ts'
import { Codecs } from '../../src/contract/protobuf/codec.ts'
import { descriptorBytes, toDescriptor, wellKnownFiles } from '../../src/contract/protobuf/descriptors.ts'
import { parseLock, toLock } from '../../src/contract/protobuf/lock.ts'
import { MalformedMessage } from '../../src/contract/protobuf/well-known.ts'
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

describe('messages', () => {
  const Value = z.object({
    text: z.string(),
    int: z.int(),
    small: z.uint32(),
    double: z.number(),
    yes: z.boolean(),
    big: z.bigint(),
    date: z.date(),
    bytes: z.instanceof(Uint8Array),
    option: z.string().optional(),
    nothing: z.string().nullable(),
    list: z.array(z.number()),
    map: z.record(z.string(), z.object({ n: z.int() })),
    any: z.unknown(),
  })
  const file = toProtoFile(service('s', { m: fn({ input: Value }) }))
  const codec = new Codecs(file.messages).of('MRequest')
  const value = {
    text: 'é𝄞',
    int: Number.MIN_SAFE_INTEGER,
    small: 2 ** 32 - 1,
    double: -0,
    yes: true,
    big: -(2n ** 100n),
    date: new Date(-1),
    bytes: new Uint8Array([0, 255]),
    nothing: null,
    list: [1.5, NaN, -Infinity],
    map: { a: { n: 1 }, '': { n: 0 } },
    any: { deep: [1, 'a', null, true, { x: {} }] },
  }
  /** Protobuf's own library, which knows the message only by its descriptor. */
  const registry = createFileRegistry(
    create(FileDescriptorSetSchema, { file: [...wellKnownFiles.values(), toDescriptor(file)] }),
  )
  const type = registry.getMessage('s.MRequest')!

  it('keep every value', () => {
    assert.deepEqual(codec.decode(codec.encode(value)), value)
  })

  it('are those of protobuf-es, both ways', () => {
    const message = fromBinary(type, codec.encode(value)) as unknown as Record<string, unknown>
    assert.deepEqual([message['text'], message['int'], message['option']], [value.text, BigInt(value.int), undefined])
    assert.deepEqual(codec.decode(toBinary(type, message as never)), value)
  })

  it('have zeros for what is absent', () => {
    const { text, int, yes, list, map, nothing, option } = codec.decode(new Uint8Array()) as Record<string, unknown>
    assert.deepEqual([text, int, yes, list, map, nothing, option], ['', 0, false, [], {}, null, undefined])
  })

  it('refuse what they cannot hold, with its path', () => {
    const faulty: [object, (string | number)[]][] = [
      [{ ...value, int: 2 ** 60 }, ['int']],
      [{ ...value, small: -1 }, ['small']],
      [{ ...value, text: 1 }, ['text']],
      [{ ...value, list: [1, 'x'] }, ['list', 1]],
      [{ ...value, map: { k: { n: 0.5 } } }, ['map', 'k', 'n']],
      [{ ...value, date: new Date(NaN) }, ['date']],
    ]
    for (const [wrong, path] of faulty)
      assert.throws(
        () => codec.encode(wrong),
        (error: { path?: unknown }) => {
          assert.deepEqual(error.path, path)
          return true
        },
      )
  })

  it('refuse malformed bytes, whatever they are', () => {
    const bytes = codec.encode(value)
    for (let length = 1; length < bytes.length; length++)
      try {
        codec.decode(bytes.subarray(0, length))
      } catch (error) {
        assert.ok(error instanceof MalformedMessage, String(error))
      }
    assert.throws(() => codec.decode(new Uint8Array([0x0a, 0x7f])), MalformedMessage)
    assert.throws(() => codec.decode(new Uint8Array([0x0a, 0x02, 0xff, 0xfe])), MalformedMessage)
  })

  it('have a limit to their depth', () => {
    let nested = new Uint8Array()
    for (let depth = 0; depth < 150; depth++) nested = wrap(0x0a, wrap(0x32, nested))
    assert.throws(() => codec.decode(wrap(0x6a, wrap(0x32, nested))), MalformedMessage)
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
    assert.deepEqual(parseLock(JSON.stringify(lock), ''), lock)
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

function wrap(tag: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7]
  return new Uint8Array([tag, ...length, ...bytes])
}

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
