import { deferredStream } from '../deferred-stream.ts'
import { BusbarError } from '../../errors.ts'
import type { Method } from '../../method.ts'
import type { BoundMethod } from '../transport.ts'

/** For a method whose caller sends many values: a request over HTTP/1.1 has one input. */
export function unsupported(service: string, method: string, { kind }: Method): BoundMethod {
  const refuse = async (): Promise<never> => {
    throw inputsUnsupported(service, method)
  }
  return kind === 'stream' ? () => deferredStream(refuse) : refuse
}

export function inputsUnsupported(service: string, method: string): BusbarError {
  return new BusbarError('OPERATION_UNSUPPORTED', {
    message: `${service}.${method} takes many values from its caller, which the HTTP interface does not carry, in browsers and elsewhere`,
    hint: "Call it within the app, or over gRPC: client(contract, 'grpc://…').",
    service,
  })
}
