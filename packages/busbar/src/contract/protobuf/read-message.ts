import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { fromTagged } from '../value/decode.ts'
import { SerialisationError } from '../value/serialisable.ts'
import type { Field, FieldType, Message, Scalar } from './model.ts'
import { checkDepth, checkEnd, endOf, MalformedMessage, readJson, readTimestamp, setEntry } from './well-known.ts'

/** `depth`: of the value that is read, in levels of the whole value. */
export type ReadMessage = (reader: BinaryReader, end: number, depth: number) => Record<string, unknown>

/** Reads one value, after its tag. */
interface ReadValue {
  readonly wireType: WireType
  read(reader: BinaryReader, depth: number): unknown
}
type Target = Record<string, unknown>
interface ReadField {
  readonly key: string
  readonly wireType: WireType
  read(reader: BinaryReader, into: Target, depth: number): void
  /** For the other way in which a list of numbers may arrive. */
  readonly unpacked?: ReadField
}

/** An absent field gets the value that its absence means. Unknown fields are skipped. */
export function compileReader({ name, fields }: Message, readerOf: (message: string) => ReadMessage): ReadMessage {
  const byNumber = new Map(fields.map((field) => [field.number, fieldReader(field, readerOf)]))
  const absent = fields.flatMap((field) => absentValue(field))
  return (reader, end, depth) => {
    checkDepth(depth)
    if (end > reader.len) throw new MalformedMessage(`a ${name} ends after the bytes`)
    const into: Target = {}
    for (const { key, make } of absent) into[key] = make()
    while (reader.pos < end) {
      const [number, wireType] = reader.tag()
      const found = byNumber.get(number)
      const field = found?.wireType === wireType ? found : found?.unpacked
      if (field?.wireType === wireType) readInto(field, reader, into, depth + 1)
      else reader.skip(wireType, number)
    }
    checkEnd(reader, end)
    return into
  }
}

/** A value that is refused is found by its path, of which the outer part is enough. */
function readInto(field: ReadField, reader: BinaryReader, into: Target, depth: number): void {
  try {
    field.read(reader, into, depth)
  } catch (error) {
    if (!(error instanceof SerialisationError)) throw error
    throw new SerialisationError([field.key, ...error.path].slice(0, 8), error.message)
  }
}

function absentValue({ key, type, shape }: Field): { key: string; make: () => unknown }[] {
  if (shape.is !== 'single') {
    if (shape.optional) return []
    return [{ key, make: shape.is === 'repeated' ? () => [] : () => ({}) }]
  }
  if (shape.presence === 'nullable') return [{ key, make: () => null }]
  if (shape.presence === 'optional' || type.kind !== 'scalar') return []
  const zero = zeros[type.scalar]
  return [{ key, make: type.scalar === 'bytes' ? () => new Uint8Array() : () => zero }]
}

const zeros: Readonly<Record<Scalar, unknown>> = {
  string: '',
  bool: false,
  double: 0,
  int32: 0,
  uint32: 0,
  int64: 0,
  bytes: undefined,
}

function fieldReader(field: Field, readerOf: (message: string) => ReadMessage): ReadField {
  const { key, type, shape } = field
  const value = valueReader(type, readerOf)
  const { wireType } = value
  if (shape.is === 'map') return mapReader(key, type, value)
  if (shape.is === 'single')
    return { key, wireType, read: (reader, into, depth) => void (into[key] = value.read(reader, depth)) }
  const one: ReadField = {
    key,
    wireType,
    read: (reader, into, depth) => void ((into[key] ??= []) as unknown[]).push(value.read(reader, depth + 1)),
  }
  return wireType === WireType.LengthDelimited ? one : packedReader(key, value, one)
}

function packedReader(key: string, value: ReadValue, unpacked: ReadField): ReadField {
  return {
    key,
    wireType: WireType.LengthDelimited,
    unpacked,
    read(reader, into, depth) {
      const list = (into[key] ??= []) as unknown[]
      const end = endOf(reader)
      while (reader.pos < end) list.push(value.read(reader, depth + 1))
      checkEnd(reader, end)
    },
  }
}

function mapReader(key: string, type: FieldType, value: ReadValue): ReadField {
  return {
    key,
    wireType: WireType.LengthDelimited,
    read(reader, into, depth) {
      const target = (into[key] ??= {}) as Target
      const end = endOf(reader)
      let entry = ''
      let found: unknown = type.kind === 'any' ? null : undefined
      let isFound = false
      while (reader.pos < end) {
        const [number, wireType] = reader.tag()
        if (number === 1 && wireType === WireType.LengthDelimited) entry = reader.string(true)
        else if (number === 2 && wireType === value.wireType) {
          found = value.read(reader, depth + 1)
          isFound = true
        } else reader.skip(wireType, number)
      }
      checkEnd(reader, end)
      setEntry(target, entry, isFound ? found : zeroOf(type, value, depth + 1))
    },
  }
}

/** The value of an entry that has only a key. */
function zeroOf(type: FieldType, value: ReadValue, depth: number): unknown {
  if (type.kind === 'scalar') return type.scalar === 'bytes' ? new Uint8Array() : zeros[type.scalar]
  if (type.kind === 'message' || type.kind === 'date') return value.read(new BinaryReader(emptyPart), depth)
  return null
}

/** A part of the length zero. */
const emptyPart = Uint8Array.of(0)

function valueReader(type: FieldType, readerOf: (message: string) => ReadMessage): ReadValue {
  switch (type.kind) {
    case 'scalar':
      return scalarReaders[type.scalar]
    case 'bigint':
      return { wireType: WireType.LengthDelimited, read: (reader) => toBigInt(reader.string(true)) }
    case 'date':
      return { wireType: WireType.LengthDelimited, read: (reader) => readTimestamp(reader, endOf(reader)) }
    case 'any':
      return {
        wireType: WireType.LengthDelimited,
        read: (reader, depth) => fromTagged(readJson(reader, endOf(reader), depth)),
      }
    case 'message': {
      let read: ReadMessage | undefined
      return {
        wireType: WireType.LengthDelimited,
        read: (reader, depth) => (read ??= readerOf(type.name))(reader, endOf(reader), depth),
      }
    }
  }
}

const scalarReaders: Readonly<Record<Scalar, ReadValue>> = {
  string: { wireType: WireType.LengthDelimited, read: (reader) => reader.string(true) },
  bool: { wireType: WireType.Varint, read: (reader) => reader.bool() },
  double: { wireType: WireType.Bit64, read: (reader) => reader.double() },
  int32: { wireType: WireType.Varint, read: (reader) => reader.int32() },
  uint32: { wireType: WireType.Varint, read: (reader) => reader.uint32() },
  int64: { wireType: WireType.Varint, read: (reader) => toSafe(reader.int64()) },
  // A copy: the bytes may be a part of a buffer that is used again.
  bytes: { wireType: WireType.LengthDelimited, read: (reader) => new Uint8Array(reader.bytes()) },
}

function toSafe(value: bigint | string): number {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  throw new SerialisationError([], `${value} is an integer beyond ${Number.MAX_SAFE_INTEGER}`)
}

function toBigInt(text: string): bigint {
  if (/^-?\d{1,10000}$/.test(text)) return BigInt(text)
  throw new SerialisationError([], `${JSON.stringify(text.slice(0, 40))} is not an integer of up to 10,000 digits`)
}
