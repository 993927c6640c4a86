import { create } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import { BusbarError } from '../../../contract/errors.ts'
import { Codecs } from '../../../contract/protobuf/codec.ts'
import type { GrpcCallOptions, GrpcMethod } from '../grpc-method.ts'
import { field, message } from './messages.ts'

export const healthService = 'grpc.health.v1.Health'

/** Whether a gRPC service serves; '' asks for the app. Undefined: there is no such service. */
export type ServesNow = (service: string) => boolean | undefined

const status = { serving: 1, notServing: 2, unknown: 3 } as const
/** How often a watched service is looked at, in milliseconds. */
const interval = 500

/** `grpc.health.v1` (github.com/grpc/grpc, doc/health-checking.md). */
export function healthMethods(servesNow: ServesNow): Map<string, GrpcMethod> {
  const codecs = new Codecs(
    new Map([
      message('HealthCheckRequest', [field(1, 'service', 'string')]),
      message('HealthCheckResponse', [field(1, 'status', 'int32')]),
    ]),
  )
  const shared = {
    service: healthService,
    clientStreams: false,
    request: codecs.of('HealthCheckRequest'),
    response: codecs.of('HealthCheckResponse'),
    needsClientCertificate: false,
  }
  const serviceIn = (input: unknown): string => (input as { service: string }).service
  const check: GrpcMethod = {
    ...shared,
    method: 'Check',
    serverStreams: false,
    call: async (input) => {
      const serves = servesNow(serviceIn(input))
      if (serves !== undefined) return { status: serves ? status.serving : status.notServing }
      throw notFound(serviceIn(input))
    },
  }
  const watch: GrpcMethod = {
    ...shared,
    method: 'Watch',
    serverStreams: true,
    call: (input, options) => changes(() => servesNow(serviceIn(input)), options),
  }
  return new Map([check, watch].map((method) => [`/${healthService}/${method.method}`, method]))
}

/** The status now and whenever it changes, until the client leaves or its deadline passes. */
async function* changes(
  look: () => boolean | undefined,
  { signal, timeout = Infinity }: GrpcCallOptions,
): AsyncGenerator<unknown, void, undefined> {
  const end = performance.now() + timeout
  let last: number | undefined
  while (!signal.aborted) {
    const serves = look()
    const now = serves === undefined ? status.unknown : serves ? status.serving : status.notServing
    if (now !== last) yield { status: (last = now) }
    if (performance.now() >= end) throw over()
    await pause(Math.min(interval, end - performance.now()), signal)
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = (): void => resolve()
  const timer = setTimeout(done, milliseconds)
  signal.addEventListener('abort', done, { once: true })
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', done)
}

function over(): BusbarError {
  return new BusbarError('DEADLINE_EXCEEDED', { message: 'the watch has reached its deadline', service: healthService })
}

/** The protocol asks for the status NOT_FOUND. */
function notFound(name: string): BusbarError<string> {
  const message = `there is no service ${JSON.stringify(name.slice(0, 128))}`
  return new BusbarError<string>('NOT_FOUND', { message, service: healthService }, { status: 404 })
}

export const healthDescriptor: FileDescriptorProto = create(FileDescriptorProtoSchema, {
  name: 'grpc/health/v1/health.proto',
  package: 'grpc.health.v1',
  syntax: 'proto3',
  messageType: [
    {
      name: 'HealthCheckRequest',
      field: [{ name: 'service', number: 1, jsonName: 'service', label: Label.OPTIONAL, type: Type.STRING }],
    },
    {
      name: 'HealthCheckResponse',
      field: [
        {
          name: 'status',
          number: 1,
          jsonName: 'status',
          label: Label.OPTIONAL,
          type: Type.ENUM,
          typeName: '.grpc.health.v1.HealthCheckResponse.ServingStatus',
        },
      ],
      enumType: [
        {
          name: 'ServingStatus',
          value: ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'].map((name, number) => ({ name, number })),
        },
      ],
    },
  ],
  service: [
    {
      name: 'Health',
      method: ['Check', 'Watch'].map((name) => ({
        name,
        inputType: '.grpc.health.v1.HealthCheckRequest',
        outputType: '.grpc.health.v1.HealthCheckResponse',
        serverStreaming: name === 'Watch',
      })),
    },
  ],
})
