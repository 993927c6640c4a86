import type { FileDescriptorProto } from '@bufbuild/protobuf/wkt'
import { Codecs } from '../../../contract/protobuf/codec.ts'
import { descriptorBytes } from '../../../contract/protobuf/descriptors.ts'
import { grpcStatus } from '../../../contract/grpc/statuses.ts'
import type { GrpcMethod } from '../grpc-method.ts'
import { field, message, optional, repeated } from './messages.ts'

/** Clients ask for one or the other; both are the same on the wire. */
export const reflectionServices = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
] as const

const messages = new Map([
  message('Request', [
    field(1, 'host', 'string'),
    optional(3, 'file_by_filename', 'string'),
    optional(4, 'file_containing_symbol', 'string'),
    optional(5, 'file_containing_extension', { message: 'Extension' }),
    optional(6, 'all_extension_numbers_of_type', 'string'),
    optional(7, 'list_services', 'string'),
  ]),
  message('Extension', [field(1, 'containing_type', 'string'), field(2, 'extension_number', 'int32')]),
  message('Response', [
    field(1, 'valid_host', 'string'),
    field(2, 'original_request', { message: 'Request' }),
    optional(4, 'file_descriptor_response', { message: 'Files' }),
    optional(5, 'all_extension_numbers_response', { message: 'Numbers' }),
    optional(6, 'list_services_response', { message: 'Services' }),
    optional(7, 'error_response', { message: 'Failure' }),
  ]),
  message('Files', [repeated(1, 'file_descriptor_proto', 'bytes')]),
  message('Numbers', [field(1, 'base_type_name', 'string'), repeated(2, 'extension_number', 'int32')]),
  message('Services', [repeated(1, 'service', { message: 'Service' })]),
  message('Service', [field(1, 'name', 'string')]),
  message('Failure', [field(1, 'error_code', 'int32'), field(2, 'error_message', 'string')]),
])

interface Request {
  readonly host: string
  readonly file_by_filename?: string
  readonly file_containing_symbol?: string
  readonly all_extension_numbers_of_type?: string
  readonly list_services?: string
}

/**
 * Server reflection (github.com/grpc/grpc, doc/server-reflection.md): grpcurl and others ask what
 * there is.
 */
export function reflectionMethods(
  files: readonly FileDescriptorProto[],
  services: readonly string[],
): Map<string, GrpcMethod> {
  const codecs = new Codecs(messages)
  const known = new KnownFiles(files)
  const shared = {
    method: 'ServerReflectionInfo',
    serverStreams: true,
    clientStreams: true,
    request: codecs.of('Request'),
    response: codecs.of('Response'),
    needsClientCertificate: false,
    call: (input: unknown) => answers(input as AsyncIterable<Request>, known, services),
  }
  return new Map(reflectionServices.map((service) => [`/${service}/${shared.method}`, { ...shared, service }]))
}

async function* answers(
  requests: AsyncIterable<Request>,
  files: KnownFiles,
  services: readonly string[],
): AsyncGenerator<unknown, void, undefined> {
  for await (const request of requests)
    yield { valid_host: request.host, original_request: request, ...answerTo(request, files, services) }
}

function answerTo(request: Request, files: KnownFiles, services: readonly string[]): object {
  if (request.list_services !== undefined)
    return { list_services_response: { service: services.map((name) => ({ name })) } }
  if (request.file_by_filename !== undefined)
    return fileAnswer(files.byName(request.file_by_filename), request.file_by_filename)
  const symbol = request.file_containing_symbol
  if (symbol !== undefined) return fileAnswer(files.bySymbol(symbol), symbol)
  const base = request.all_extension_numbers_of_type
  if (base !== undefined && files.bySymbol(base) !== undefined)
    return { all_extension_numbers_response: { base_type_name: base, extension_number: [] } }
  return failure(grpcStatus.NOT_FOUND, 'there are no extensions in proto3')
}

function fileAnswer(found: readonly Uint8Array[] | undefined, wanted: string): object {
  if (found === undefined) return failure(grpcStatus.NOT_FOUND, `there is no ${wanted.slice(0, 128)}`)
  return { file_descriptor_response: { file_descriptor_proto: found } }
}

function failure(code: number, text: string): object {
  return { error_response: { error_code: code, error_message: text } }
}

/** The files by their names and by what they define. An answer has the imported files too. */
class KnownFiles {
  readonly #byName: ReadonlyMap<string, FileDescriptorProto>
  readonly #bySymbol = new Map<string, FileDescriptorProto>()

  constructor(files: readonly FileDescriptorProto[]) {
    this.#byName = new Map(files.map((file) => [file.name, file]))
    for (const file of files) for (const symbol of symbolsOf(file)) this.#bySymbol.set(symbol, file)
  }

  byName(name: string): readonly Uint8Array[] | undefined {
    return this.#withImports(this.#byName.get(name))
  }

  bySymbol(symbol: string): readonly Uint8Array[] | undefined {
    return this.#withImports(this.#bySymbol.get(symbol))
  }

  #withImports(file: FileDescriptorProto | undefined): readonly Uint8Array[] | undefined {
    if (file === undefined) return undefined
    const all = new Set([file])
    for (const one of all)
      for (const name of one.dependency) {
        const imported = this.#byName.get(name)
        if (imported !== undefined) all.add(imported)
      }
    return [...all].map(descriptorBytes)
  }
}

function* symbolsOf(file: FileDescriptorProto): Generator<string> {
  const prefix = file.package === '' ? '' : `${file.package}.`
  for (const { name, field: fields, nestedType, enumType } of file.messageType) {
    yield prefix + name
    for (const part of [...fields, ...nestedType, ...enumType]) yield `${prefix}${name}.${part.name}`
  }
  for (const { name } of file.enumType) yield prefix + name
  for (const { name, method } of file.service) {
    yield prefix + name
    for (const rpc of method) yield `${prefix}${name}.${rpc.name}`
  }
}
