import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { toTaggedFor } from '../value/encode.ts'
import { describeValue, maxDepth, SerialisationError } from '../value/serialisable.ts'
import type { Field, FieldType, Message, Scalar } from './model.ts'
import { writeJson, writeTimestamp } from './well-known.ts'

/** `depth`: of the value, in levels of the whole value. */
export type WriteMessage = (value: unknown, writer: BinaryWriter, depth: number) => void

/** Writes one value with its tag. Only an error makes a path, from within. */
type WriteValue = (value: unknown, writer: BinaryWriter, depth: number) => void
type WriterOf = (message: string) => WriteMessage

export function compileWriter({ fields }: Message, writerOf: WriterOf): WriteMessage {
  const writers = fields.map((field) => ({ key: field.key, write: fieldWriter(field, writerOf) }))
  return (value, writer, depth) => {
    if (typeof value !== 'object' || value === null) throw unexpected(value, 'an object')
    if (depth >= maxDepth) throw new SerialisationError([], `nested deeper than ${maxDepth} levels, or in itself`)
    let at = 0
    try {
      for (; at < writers.length; at++) {
        const { key, write } = writers[at]!
        write((value as Record<string, unknown>)[key], writer, depth + 1)
      }
    } catch (error) {
      throw within(writers[at]!.key, error)
    }
  }
}

/** Of a long path the outer part is enough. */
function within(key: string | number, error: unknown): unknown {
  if (!(error instanceof SerialisationError)) return error
  return new SerialisationError([key, ...error.path].slice(0, 8), error.message)
}

function fieldWriter(field: Field, writerOf: WriterOf): WriteValue {
  const { number, type, shape } = field
  const write = valueWriter(number, type, writerOf)
  if (shape.is === 'repeated') return repeatedWriter(field, write)
  if (shape.is === 'map') return mapWriter(field, writerOf)
  const isDefault = shape.presence === 'implicit' ? defaultOf(type) : never
  const general: WriteValue = (value, writer, depth) => {
    if (value === undefined || (value === null && type.kind !== 'any')) {
      if (shape.presence === 'implicit' && type.kind !== 'any') throw unexpected(value, nameOf(type))
    } else if (!isDefault(value)) write(value, writer, depth)
  }
  if (type.kind !== 'scalar') return general
  return shortcuts[type.scalar]?.(tagOf(number, wireTypes[type.scalar]), general) ?? general
}

/**
 * The usual values of the usual types at once; all others by `general`. A third of the time of
 * writing a list of small messages went into the calls from one closure to the next.
 */
const shortcuts: Readonly<Partial<Record<Scalar, (tag: number, general: WriteValue) => WriteValue>>> = {
  string: (tag, general) => (value, writer, depth) => {
    if (typeof value === 'string' && value !== '') writer.uint32(tag).string(value)
    else general(value, writer, depth)
  },
  int32: (tag, general) => (value, writer, depth) => {
    if (typeof value === 'number' && (value | 0) === value && value !== 0) writer.uint32(tag).int32(value)
    else general(value, writer, depth)
  },
}

const never = (): boolean => false

/** A value that is not written, because its absence means the same. */
function defaultOf(type: FieldType): (value: unknown) => boolean {
  return type.kind === 'scalar' ? defaults[type.scalar] : never
}

const isZero = (value: unknown): boolean => Object.is(value, 0)

const defaults: Readonly<Record<Scalar, (value: unknown) => boolean>> = {
  string: (value) => value === '',
  bool: (value) => value === false,
  bytes: (value) => value instanceof Uint8Array && value.length === 0,
  double: isZero,
  int32: isZero,
  uint32: isZero,
  int64: isZero,
}

function repeatedWriter({ number, type }: Field, write: WriteValue): WriteValue {
  const packed = type.kind === 'scalar' ? packedWriters[type.scalar] : undefined
  const tag = tagOf(number, WireType.LengthDelimited)
  return (value, writer, depth) => {
    if (value === undefined) return
    if (!Array.isArray(value)) throw unexpected(value, 'a list')
    if (value.length === 0) return
    if (packed === undefined) return writeAll(value, write, writer, depth + 1)
    writer.uint32(tag).fork()
    writeAll(value, packed, writer, depth + 1)
    writer.join()
  }
}

function writeAll(values: readonly unknown[], write: WriteValue, writer: BinaryWriter, depth: number): void {
  let at = 0
  try {
    for (; at < values.length; at++) write(values[at], writer, depth)
  } catch (error) {
    throw within(at, error)
  }
}

function mapWriter({ number, type }: Field, writerOf: WriterOf): WriteValue {
  const write = valueWriter(2, type, writerOf)
  const tag = tagOf(number, WireType.LengthDelimited)
  return (value, writer, depth) => {
    if (value === undefined) return
    if (typeof value !== 'object' || value === null) throw unexpected(value, 'an object')
    for (const [entry, one] of Object.entries(value)) {
      writer.uint32(tag).fork().tag(1, WireType.LengthDelimited).string(entry)
      try {
        write(one, writer, depth + 1)
      } catch (error) {
        throw within(entry, error)
      }
      writer.join()
    }
  }
}

function tagOf(number: number, wireType: WireType): number {
  return ((number << 3) | wireType) >>> 0
}

function valueWriter(number: number, type: FieldType, writerOf: WriterOf): WriteValue {
  if (type.kind === 'scalar') {
    const write = scalarWriters[type.scalar]
    const tag = tagOf(number, wireTypes[type.scalar])
    return (value, writer, depth) => write(value, writer.uint32(tag), depth)
  }
  const tag = tagOf(number, WireType.LengthDelimited)
  const write = type.kind === 'message' ? lazily(() => writerOf(type.name)) : contentWriters[type.kind]
  if (type.kind === 'bigint') return (value, writer, depth) => write(value, writer.uint32(tag), depth)
  return (value, writer, depth) => {
    writer.uint32(tag).fork()
    write(value, writer, depth)
    writer.join()
  }
}

function lazily(find: () => WriteMessage): WriteValue {
  let found: WriteMessage | undefined
  return (value, writer, depth) => (found ??= find())(value, writer, depth)
}

const contentWriters: Readonly<Record<'bigint' | 'date' | 'any', WriteValue>> = {
  bigint(value, writer) {
    if (typeof value !== 'bigint') throw unexpected(value, 'a bigint')
    writer.string(String(value))
  },
  date(value, writer) {
    if (!(value instanceof Date) || Number.isNaN(value.getTime())) throw unexpected(value, 'a valid date')
    writeTimestamp(value, writer)
  },
  any: (value, writer) => writeJson(toTaggedFor('json', value), writer),
}

/** Without a tag. */
const scalarWriters: Readonly<Record<Scalar, WriteValue>> = {
  string(value, writer) {
    if (typeof value !== 'string') throw unexpected(value, 'a string')
    writer.string(value)
  },
  bool(value, writer) {
    if (typeof value !== 'boolean') throw unexpected(value, 'a boolean')
    writer.bool(value)
  },
  double(value, writer) {
    if (typeof value !== 'number') throw unexpected(value, 'a number')
    writer.double(value)
  },
  int32: integerWriter(-(2 ** 31), 2 ** 31 - 1, (value, writer) => writer.int32(value)),
  uint32: integerWriter(0, 2 ** 32 - 1, (value, writer) => writer.uint32(value)),
  int64: integerWriter(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, (value, writer) => writer.int64(value)),
  bytes(value, writer) {
    if (!(value instanceof Uint8Array)) throw unexpected(value, 'bytes')
    writer.bytes(value)
  },
}

const packedWriters: Readonly<Partial<Record<Scalar, WriteValue>>> = {
  bool: scalarWriters.bool,
  double: scalarWriters.double,
  int32: scalarWriters.int32,
  uint32: scalarWriters.uint32,
  int64: scalarWriters.int64,
}

const wireTypes: Readonly<Record<Scalar, WireType>> = {
  string: WireType.LengthDelimited,
  bool: WireType.Varint,
  double: WireType.Bit64,
  int32: WireType.Varint,
  uint32: WireType.Varint,
  int64: WireType.Varint,
  bytes: WireType.LengthDelimited,
}

function integerWriter(from: number, to: number, write: (value: number, writer: BinaryWriter) => void): WriteValue {
  return (value, writer) => {
    if (!Number.isInteger(value) || (value as number) < from || (value as number) > to)
      throw unexpected(value, `an integer from ${from} to ${to}`)
    write(value as number, writer)
  }
}

function nameOf(type: FieldType): string {
  return type.kind === 'scalar' ? `a ${type.scalar}` : type.kind === 'message' ? type.name : `a ${type.kind}`
}

function unexpected(value: unknown, expected: string): SerialisationError {
  const found = typeof value === 'number' || value === undefined ? String(value) : describeValue(value)
  return new SerialisationError([], `${expected} is expected, not ${found}`)
}
