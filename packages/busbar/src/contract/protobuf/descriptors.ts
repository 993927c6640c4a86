import { create, toBinary } from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldDescriptorProtoSchema,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import type { Field, FieldType, Message, ProtoFile, Scalar } from './model.ts'
import { toFieldName, toJsonName, toTypeName } from './names.ts'

/** `rpz/item_service.proto`. */
export function protoPathOf({ package: name, service }: ProtoFile): string {
  return `${name.replaceAll('.', '/')}/${toFieldName(service)}.proto`
}

/** The descriptor of a file, as reflection tells it and tools read it. */
export function toDescriptor(file: ProtoFile): FileDescriptorProto {
  const prefix = `.${file.package}.`
  return create(FileDescriptorProtoSchema, {
    name: protoPathOf(file),
    package: file.package,
    syntax: 'proto3',
    dependency: dependenciesOf(file),
    messageType: [...file.messages.values()].map((message) => toMessage(message, prefix)),
    service: [
      {
        name: file.service,
        method: file.methods.map(({ name, request, response, clientStreams, serverStreams }) => ({
          name,
          inputType: prefix + request,
          outputType: prefix + response,
          clientStreaming: clientStreams,
          serverStreaming: serverStreams,
        })),
      },
    ],
  })
}

export function descriptorBytes(file: FileDescriptorProto): Uint8Array {
  return toBinary(FileDescriptorProtoSchema, file)
}

/** The files of Google that others import, by path. */
export const wellKnownFiles: ReadonlyMap<string, FileDescriptorProto> = new Map(
  [file_google_protobuf_struct, file_google_protobuf_timestamp].map(({ proto }) => [proto.name, proto]),
)

export function dependenciesOf({ messages }: ProtoFile): string[] {
  const kinds = new Set([...messages.values()].flatMap(({ fields }) => fields.map(({ type }) => type.kind)))
  return [
    ...(kinds.has('any') ? ['google/protobuf/struct.proto'] : []),
    ...(kinds.has('date') ? ['google/protobuf/timestamp.proto'] : []),
  ]
}

function toMessage({ name, fields, removed = [] }: Message, prefix: string): DescriptorProto {
  const optional = fields.filter(isExplicit)
  return create(DescriptorProtoSchema, {
    name,
    field: fields.map((field) => toField(field, name, prefix, optional.indexOf(field))),
    // protoc represents `optional` by a oneof of one field (descriptor.proto, proto3_optional).
    oneofDecl: optional.map((field) => ({ name: `_${field.name}` })),
    nestedType: fields.filter(({ shape }) => shape.is === 'map').map((field) => toEntry(field, prefix)),
    reservedRange: removed.map(({ number }) => ({ start: number, end: number + 1 })),
    reservedName: removed.map((one) => one.name),
  })
}

/** A scalar whose absence shows. Messages always have that. */
export function isExplicit({ type, shape }: Field): boolean {
  return shape.is === 'single' && shape.presence !== 'implicit' && (type.kind === 'scalar' || type.kind === 'bigint')
}

function toField(field: Field, message: string, prefix: string, oneof: number): FieldDescriptorProto {
  const { name, number, type, shape } = field
  const isMap = shape.is === 'map'
  return create(FieldDescriptorProtoSchema, {
    name,
    number,
    jsonName: jsonNameOf(field) ?? toJsonName(name),
    label: shape.is === 'single' ? Label.OPTIONAL : Label.REPEATED,
    ...(isMap
      ? { type: Type.MESSAGE, typeName: `${prefix}${message}.${toTypeName(name)}Entry` }
      : typeOf(type, prefix)),
    ...(oneof >= 0 && { proto3Optional: true, oneofIndex: oneof }),
  })
}

/** Undefined if it is the one that follows from the field's name. */
export function jsonNameOf({ key, name }: Field): string | undefined {
  return toJsonName(name) === key || !/^[A-Za-z_]\w*$/.test(key) ? undefined : key
}

function toEntry({ name, type }: Field, prefix: string): DescriptorProto {
  return create(DescriptorProtoSchema, {
    name: `${toTypeName(name)}Entry`,
    options: { mapEntry: true },
    field: [
      { name: 'key', number: 1, jsonName: 'key', label: Label.OPTIONAL, type: Type.STRING },
      { name: 'value', number: 2, jsonName: 'value', label: Label.OPTIONAL, ...typeOf(type, prefix) },
    ],
  })
}

const scalarTypes: Readonly<Record<Scalar, Type>> = {
  string: Type.STRING,
  bool: Type.BOOL,
  double: Type.DOUBLE,
  int32: Type.INT32,
  uint32: Type.UINT32,
  int64: Type.INT64,
  bytes: Type.BYTES,
}

function typeOf(type: FieldType, prefix: string): { type: Type; typeName?: string } {
  switch (type.kind) {
    case 'scalar':
      return { type: scalarTypes[type.scalar] }
    case 'bigint':
      return { type: Type.STRING }
    case 'date':
      return { type: Type.MESSAGE, typeName: '.google.protobuf.Timestamp' }
    case 'any':
      return { type: Type.MESSAGE, typeName: '.google.protobuf.Value' }
    case 'message':
      return { type: Type.MESSAGE, typeName: prefix + type.name }
  }
}
