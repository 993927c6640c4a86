import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { toTaggedFor } from '../value/encode.ts'
import { describeValue, SerialisationError } from '../value/serialisable.ts'
import type { Field, FieldType, Message, Scalar } from './model.ts'
import { writeJson, writeTimestamp } from './well-known.ts'

type Path = readonly (string | number)[]
export type WriteMessage = (value: unknown, writer: BinaryWriter, path: Path) => void

/** Writes one value with its tag. */
type WriteValue = (value: unknown, writer: BinaryWriter, path: Path) => void
type WriterOf = (message: string) => WriteMessage

export function compileWriter({ fields }: Message, writerOf: WriterOf): WriteMessage {
  const writers = fields.map((field) => ({ key: field.key, write: fieldWriter(field, writerOf) }))
  return (value, writer, path) => {
    if (typeof value !== 'object' || value === null) throw unexpected(path, value, 'an object')
    for (const { key, write } of writers) write((value as Record<string, unknown>)[key], writer, path)
  }
}

function fieldWriter(field: Field, writerOf: WriterOf): WriteValue {
  const { key, number, type, shape } = field
  const write = valueWriter(number, type, writerOf)
  if (shape.is === 'repeated') return repeatedWriter(field, write)
  if (shape.is === 'map') return mapWriter(field, writerOf)
  const isDefault = shape.presence === 'implicit' ? defaultOf(type) : never
  return (value, writer, path) => {
    if (value === undefined || (value === null && type.kind !== 'any')) {
      if (shape.presence === 'implicit' && type.kind !== 'any') throw unexpected([...path, key], value, nameOf(type))
    } else if (!isDefault(value)) write(value, writer, [...path, key])
  }
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

function repeatedWriter({ key, number, type }: Field, write: WriteValue): WriteValue {
  const packed = type.kind === 'scalar' ? packedWriters[type.scalar] : undefined
  return (value, writer, path) => {
    if (value === undefined) return
    if (!Array.isArray(value)) throw unexpected([...path, key], value, 'a list')
    if (value.length === 0) return
    if (packed === undefined) return value.forEach((one, at) => write(one, writer, [...path, key, at]))
    writer.tag(number, WireType.LengthDelimited).fork()
    value.forEach((one, at) => packed(one, writer, [...path, key, at]))
    writer.join()
  }
}

function mapWriter({ key, number, type }: Field, writerOf: WriterOf): WriteValue {
  const write = valueWriter(2, type, writerOf)
  return (value, writer, path) => {
    if (value === undefined) return
    if (typeof value !== 'object' || value === null) throw unexpected([...path, key], value, 'an object')
    for (const [entry, one] of Object.entries(value)) {
      writer.tag(number, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).string(entry)
      write(one, writer, [...path, key, entry])
      writer.join()
    }
  }
}

function valueWriter(number: number, type: FieldType, writerOf: WriterOf): WriteValue {
  if (type.kind === 'scalar') {
    const write = scalarWriters[type.scalar]
    const wireType = wireTypes[type.scalar]
    return (value, writer, path) => write(value, writer.tag(number, wireType), path)
  }
  const write = type.kind === 'message' ? lazily(() => writerOf(type.name)) : contentWriters[type.kind]
  if (type.kind === 'bigint')
    return (value, writer, path) => write(value, writer.tag(number, WireType.LengthDelimited), path)
  return (value, writer, path) => {
    writer.tag(number, WireType.LengthDelimited).fork()
    write(value, writer, path)
    writer.join()
  }
}

function lazily(find: () => WriteMessage): WriteValue {
  let found: WriteMessage | undefined
  return (value, writer, path) => (found ??= find())(value, writer, path)
}

const contentWriters: Readonly<Record<'bigint' | 'date' | 'any', WriteValue>> = {
  bigint(value, writer, path) {
    if (typeof value !== 'bigint') throw unexpected(path, value, 'a bigint')
    writer.string(String(value))
  },
  date(value, writer, path) {
    if (!(value instanceof Date) || Number.isNaN(value.getTime())) throw unexpected(path, value, 'a valid date')
    writeTimestamp(value, writer)
  },
  any: (value, writer) => writeJson(toTaggedFor('json', value), writer),
}

/** Without a tag. */
const scalarWriters: Readonly<Record<Scalar, WriteValue>> = {
  string(value, writer, path) {
    if (typeof value !== 'string') throw unexpected(path, value, 'a string')
    writer.string(value)
  },
  bool(value, writer, path) {
    if (typeof value !== 'boolean') throw unexpected(path, value, 'a boolean')
    writer.bool(value)
  },
  double(value, writer, path) {
    if (typeof value !== 'number') throw unexpected(path, value, 'a number')
    writer.double(value)
  },
  int32: integerWriter(-(2 ** 31), 2 ** 31 - 1, (value, writer) => writer.int32(value)),
  uint32: integerWriter(0, 2 ** 32 - 1, (value, writer) => writer.uint32(value)),
  int64: integerWriter(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, (value, writer) => writer.int64(value)),
  bytes(value, writer, path) {
    if (!(value instanceof Uint8Array)) throw unexpected(path, value, 'bytes')
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
  return (value, writer, path) => {
    if (!Number.isInteger(value) || (value as number) < from || (value as number) > to)
      throw unexpected(path, value, `an integer from ${from} to ${to}`)
    write(value as number, writer)
  }
}

function nameOf(type: FieldType): string {
  return type.kind === 'scalar' ? `a ${type.scalar}` : type.kind === 'message' ? type.name : `a ${type.kind}`
}

function unexpected(path: Path, value: unknown, expected: string): SerialisationError {
  return new SerialisationError(path, `${expected} is expected, not ${describeValue(value)}`)
}
