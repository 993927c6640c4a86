import { create } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'

type FieldSpec = readonly [number: number, name: string, type: Type | string, more?: 'oneof' | 'repeated']

const messages: Readonly<Record<string, { readonly oneof?: string; readonly fields: readonly FieldSpec[] }>> = {
  ServerReflectionRequest: {
    oneof: 'message_request',
    fields: [
      [1, 'host', Type.STRING],
      [3, 'file_by_filename', Type.STRING, 'oneof'],
      [4, 'file_containing_symbol', Type.STRING, 'oneof'],
      [5, 'file_containing_extension', 'ExtensionRequest', 'oneof'],
      [6, 'all_extension_numbers_of_type', Type.STRING, 'oneof'],
      [7, 'list_services', Type.STRING, 'oneof'],
    ],
  },
  ExtensionRequest: {
    fields: [
      [1, 'containing_type', Type.STRING],
      [2, 'extension_number', Type.INT32],
    ],
  },
  ServerReflectionResponse: {
    oneof: 'message_response',
    fields: [
      [1, 'valid_host', Type.STRING],
      [2, 'original_request', 'ServerReflectionRequest'],
      [4, 'file_descriptor_response', 'FileDescriptorResponse', 'oneof'],
      [5, 'all_extension_numbers_response', 'ExtensionNumberResponse', 'oneof'],
      [6, 'list_services_response', 'ListServiceResponse', 'oneof'],
      [7, 'error_response', 'ErrorResponse', 'oneof'],
    ],
  },
  FileDescriptorResponse: { fields: [[1, 'file_descriptor_proto', Type.BYTES, 'repeated']] },
  ExtensionNumberResponse: {
    fields: [
      [1, 'base_type_name', Type.STRING],
      [2, 'extension_number', Type.INT32, 'repeated'],
    ],
  },
  ListServiceResponse: { fields: [[1, 'service', 'ServiceResponse', 'repeated']] },
  ServiceResponse: { fields: [[1, 'name', Type.STRING]] },
  ErrorResponse: {
    fields: [
      [1, 'error_code', Type.INT32],
      [2, 'error_message', Type.STRING],
    ],
  },
}

/** Of `grpc.reflection.v1`, or of `grpc.reflection.v1alpha`. */
export function reflectionDescriptor(version: 'v1' | 'v1alpha'): FileDescriptorProto {
  const name = `grpc.reflection.${version}`
  return create(FileDescriptorProtoSchema, {
    name: `grpc/reflection/${version}/reflection.proto`,
    package: name,
    syntax: 'proto3',
    messageType: Object.entries(messages).map(([message, { oneof, fields }]) => ({
      name: message,
      field: fields.map((field) => toField(field, name)),
      oneofDecl: oneof === undefined ? [] : [{ name: oneof }],
    })),
    service: [
      {
        name: 'ServerReflection',
        method: [
          {
            name: 'ServerReflectionInfo',
            inputType: `.${name}.ServerReflectionRequest`,
            outputType: `.${name}.ServerReflectionResponse`,
            clientStreaming: true,
            serverStreaming: true,
          },
        ],
      },
    ],
  })
}

function toField([number, name, type, more]: FieldSpec, prefix: string) {
  return {
    name,
    number,
    jsonName: name.replaceAll(/_(.)/g, (_, next: string) => next.toUpperCase()),
    label: more === 'repeated' ? Label.REPEATED : Label.OPTIONAL,
    ...(typeof type === 'string' ? { type: Type.MESSAGE, typeName: `.${prefix}.${type}` } : { type }),
    ...(more === 'oneof' && { oneofIndex: 0 }),
  }
}
