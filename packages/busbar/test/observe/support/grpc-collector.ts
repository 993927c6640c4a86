/** Passes what comes by OTLP over gRPC to a receiver. */
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { OtlpReceiver } from './otlp-receiver.ts'

const signals = { traces: 'trace.v1.TraceService', metrics: 'metrics.v1.MetricsService' }

export class GrpcCollector implements AsyncDisposable {
  readonly url: string
  readonly #server: Server

  private constructor(server: Server, port: number) {
    this.#server = server
    this.url = `http://127.0.0.1:${port}`
  }

  static async open(receiver: OtlpReceiver): Promise<GrpcCollector> {
    const server = new Server()
    for (const [signal, service] of Object.entries(signals)) {
      const { definition, implementation } = serviceOf(
        `/opentelemetry.proto.collector.${service}/Export`,
        (metadata, body) => receiver.receive(`/v1/${signal}`, metadata.getMap() as Record<string, string>, body),
      )
      server.addService(definition, implementation)
    }
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    )
    return new GrpcCollector(server, await promise)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown()
  }
}

function serviceOf(
  path: string,
  received: (metadata: Metadata, body: Buffer) => void,
): { definition: ServiceDefinition; implementation: UntypedServiceImplementation } {
  const bytes = (value: Buffer): Buffer => value
  const method = {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  }
  return {
    definition: { export: method },
    implementation: {
      export: (
        call: { readonly metadata: Metadata; readonly request: Buffer },
        done: (error: null, response: Buffer) => void,
      ) => {
        received(call.metadata, call.request)
        done(null, Buffer.alloc(0))
      },
    },
  }
}
