import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import * as z from 'zod'
import { fn, service } from '../../src/contract/index.ts'
import { Codecs } from '../../src/contract/protobuf/codec.ts'
import { toDescriptor, wellKnownFiles } from '../../src/contract/protobuf/descriptors.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import { MalformedMessage } from '../../src/contract/protobuf/well-known.ts'
import { SerialisationError } from '../../src/contract/value/serialisable.ts'

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
      [{ ...value, list: Object.assign([1], { 2: 2 }) }, ['list', 1]],
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

  it('do not mix with one that failed, with a long one, or with one that a getter writes meanwhile', () => {
    const bytes = codec.encode(value)
    assert.throws(() => codec.encode({ ...value, date: new Date(NaN) }))
    assert.deepEqual(codec.encode(value), bytes)
    codec.encode({ ...value, text: 'x'.repeat(100_000) })
    assert.deepEqual(codec.encode(value), bytes)
    const nested = {
      ...value,
      get yes() {
        return codec.decode(codec.encode(value)) !== undefined
      },
    }
    assert.deepEqual(codec.encode(nested), bytes)
    assert.deepEqual(codec.encode(value, 5), new Uint8Array([0, 0, 0, 0, 0, ...bytes]))
  })

  it('refuse a value that contains itself', () => {
    const Tree = z.object({
      get child() {
        return Tree.optional()
      },
    })
    const tree = toProtoFile(service('s', { m: fn({ input: Tree }) }))
    const inItself: { child?: object } = {}
    inItself.child = inItself
    assert.throws(() => new Codecs(tree.messages).of(tree.methods[0]!.request).encode(inItself), SerialisationError)
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

  it('refuse values that calls do not carry, with their path', () => {
    const withInt = (field: number, int: bigint): Uint8Array =>
      new BinaryWriter().tag(field, WireType.Varint).int64(int).finish()
    const faulty: [Uint8Array, (string | number)[]][] = [
      [withInt(2, 2n ** 53n), ['int']],
      [withInt(2, -(2n ** 63n)), ['int']],
      [wrap(0x32, Buffer.from('1.5')), ['big']],
      [wrap(0x3a, withInt(1, 2n ** 60n)), ['date']],
      [wrap(0x62, wrap(0x0a, Buffer.from('__proto__'))), ['map', '__proto__']],
      [wrap(0x62, wrap(0x12, withInt(1, 2n ** 60n))), ['map', 'n']],
    ]
    for (const [bytes, path] of faulty)
      assert.throws(
        () => codec.decode(bytes),
        (error) => {
          assert.ok(error instanceof SerialisationError, String(error))
          assert.deepEqual(error.path, path)
          return true
        },
      )
  })

  it('refuse a part that is read beyond its length', () => {
    const packed = Uint8Array.of(0x5a, 4, ...new Uint8Array(8))
    const entry = Uint8Array.of(0x62, 1, 0x0a, 0)
    const timestamp = Uint8Array.of(0x3a, 1, 0x08, 0)
    const any = Uint8Array.of(0x6a, 1, 0x1a, 0)
    for (const bytes of [packed, entry, timestamp, any])
      assert.throws(() => codec.decode(bytes), /longer than what contains it/)
  })

  it('have a whole message for an entry without a value', () => {
    const { map } = codec.decode(wrap(0x62, wrap(0x0a, Buffer.from('k')))) as Record<string, unknown>
    assert.deepEqual(map, { k: { n: 0 } })
  })

  it('have a limit to their depth', () => {
    let nested = new Uint8Array()
    for (let depth = 0; depth < 150; depth++) nested = wrap(0x0a, wrap(0x32, nested))
    assert.throws(() => codec.decode(wrap(0x6a, wrap(0x32, nested))), MalformedMessage)
  })
})

function wrap(tag: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7]
  return new Uint8Array([tag, ...length, ...bytes])
}
