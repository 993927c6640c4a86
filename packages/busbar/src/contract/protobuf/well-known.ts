import { type BinaryReader, type BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { maxDepth, SerialisationError } from '../value/serialisable.ts'

/** Bytes that are not a message of the expected type. */
export class MalformedMessage extends Error {}

/** The same limit as for every other transport: a list and its items count too. */
export function checkDepth(depth: number): void {
  if (depth >= maxDepth) throw new MalformedMessage(`it is nested more than ${maxDepth} levels deep`)
}

/** No part may be read beyond its length, which comes before it. */
export function checkEnd(reader: BinaryReader, end: number): void {
  if (reader.pos !== end) throw new MalformedMessage('a field is longer than what contains it')
}

/** `google.protobuf.Timestamp`: seconds since 1970, and nanoseconds after them. */
export function writeTimestamp(date: Date, writer: BinaryWriter): void {
  const time = date.getTime()
  const seconds = Math.floor(time / 1000)
  const nanos = (time - seconds * 1000) * 1_000_000
  if (seconds !== 0) writer.tag(1, WireType.Varint).int64(seconds)
  if (nanos !== 0) writer.tag(2, WireType.Varint).int32(nanos)
}

export function readTimestamp(reader: BinaryReader, end: number): Date {
  let seconds = 0
  let nanos = 0
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    if (number === 1 && wireType === WireType.Varint) seconds = Number(reader.int64())
    else if (number === 2 && wireType === WireType.Varint) nanos = reader.int32()
    else reader.skip(wireType, number)
  }
  checkEnd(reader, end)
  const date = new Date(seconds * 1000 + Math.floor(nanos / 1_000_000))
  if (Number.isNaN(date.getTime())) throw new SerialisationError([], 'a timestamp is out of range')
  return date
}

/** `google.protobuf.Value`, of a value that JSON can express. */
export function writeJson(value: unknown, writer: BinaryWriter): void {
  if (typeof value === 'string') writer.tag(3, WireType.LengthDelimited).string(value)
  else if (typeof value === 'number') writer.tag(2, WireType.Bit64).double(value)
  else if (typeof value === 'boolean') writer.tag(4, WireType.Varint).bool(value)
  else if (value === null || value === undefined) writer.tag(1, WireType.Varint).int32(0)
  else if (Array.isArray(value)) writeList(value, writer.tag(6, WireType.LengthDelimited).fork()).join()
  else writeStruct(value as Record<string, unknown>, writer.tag(5, WireType.LengthDelimited).fork()).join()
}

function writeList(values: readonly unknown[], writer: BinaryWriter): BinaryWriter {
  for (const value of values) {
    writer.tag(1, WireType.LengthDelimited).fork()
    writeJson(value, writer)
    writer.join()
  }
  return writer
}

function writeStruct(fields: Readonly<Record<string, unknown>>, writer: BinaryWriter): BinaryWriter {
  for (const [key, value] of Object.entries(fields)) {
    writer.tag(1, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.LengthDelimited).string(key).tag(2, WireType.LengthDelimited).fork()
    writeJson(value, writer)
    writer.join().join()
  }
  return writer
}

export function readJson(reader: BinaryReader, end: number, depth: number): unknown {
  let value: unknown = null
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    if (number === 1 && wireType === WireType.Varint) value = (reader.int32(), null)
    else if (number === 2 && wireType === WireType.Bit64) value = reader.double()
    else if (number === 3 && wireType === WireType.LengthDelimited) value = reader.string(true)
    else if (number === 4 && wireType === WireType.Varint) value = reader.bool()
    else if (number === 5 && wireType === WireType.LengthDelimited) value = readStruct(reader, endOf(reader), depth)
    else if (number === 6 && wireType === WireType.LengthDelimited) value = readList(reader, endOf(reader), depth)
    else reader.skip(wireType, number)
  }
  checkEnd(reader, end)
  return value
}

/** The end of a part whose length comes next. */
export function endOf(reader: BinaryReader): number {
  const length = reader.uint32()
  const end = reader.pos + length
  if (end > reader.len) throw new MalformedMessage('it ends in the middle of a field')
  return end
}

function readStruct(reader: BinaryReader, end: number, depth: number): Record<string, unknown> {
  checkDepth(depth)
  const fields: Record<string, unknown> = {}
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    if (number !== 1 || wireType !== WireType.LengthDelimited) reader.skip(wireType, number)
    else
      readEntry(
        reader,
        endOf(reader),
        fields,
        () => null,
        (inner, innerEnd) => readJson(inner, innerEnd, depth + 1),
      )
  }
  checkEnd(reader, end)
  return fields
}

function readList(reader: BinaryReader, end: number, depth: number): unknown[] {
  checkDepth(depth)
  const values: unknown[] = []
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    if (number !== 1 || wireType !== WireType.LengthDelimited) reader.skip(wireType, number)
    else values.push(readJson(reader, endOf(reader), depth + 1))
  }
  checkEnd(reader, end)
  return values
}

/** An entry of a map whose values are messages. */
export function readEntry(
  reader: BinaryReader,
  end: number,
  into: Record<string, unknown>,
  absent: () => unknown,
  read: (reader: BinaryReader, end: number) => unknown,
): void {
  let key = ''
  let value: unknown
  let found = false
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    if (number === 1 && wireType === WireType.LengthDelimited) key = reader.string(true)
    else if (number === 2 && wireType === WireType.LengthDelimited) {
      value = read(reader, endOf(reader))
      found = true
    } else reader.skip(wireType, number)
  }
  checkEnd(reader, end)
  setEntry(into, key, found ? value : absent())
}

/** A key that would change the object's prototype is not data. */
export function setEntry(into: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') throw new SerialisationError([key], 'a forbidden key')
  into[key] = value
}
