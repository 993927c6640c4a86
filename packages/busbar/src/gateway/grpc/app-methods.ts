import type { App } from '../../config/app.ts'
import type { ProtoService } from '../../config/contracts/load-contracts.ts'
import type { BusbarError } from '../../contract/errors.ts'
import { fullServiceName } from '../../contract/protobuf/model.ts'
import { Codecs } from '../../contract/protobuf/codec.ts'
import { CallsInThread } from '../../mesh/typed/calls-in-thread.ts'
import { RefusedCalls } from '../../mesh/typed/refused-calls.ts'
import { outsideTransport, type TypedMesh } from '../../mesh/typed/mesh-transport.ts'
import { noStatus } from '../../shared/metrics/edge-table.ts'
import type { GrpcMethod } from './grpc-method.ts'

/**
 * The methods of the app's services, by path. Only services that the gateway leads to: a service
 * without a route is internal.
 */
export function appMethods(
  services: readonly ProtoService[],
  app: Pick<App, 'gateway'>,
  mesh: TypedMesh,
): Map<string, GrpcMethod> {
  const methods = new Map<string, GrpcMethod>()
  for (const { name, contract, file } of reachable(services, app)) {
    const codecs = new Codecs(file.messages)
    const transport = outsideTransport(mesh, name)
    for (const rpc of file.methods) {
      const spec = contract.methods[rpc.method]!
      const bound = transport.bind(contract, rpc.method, spec)
      const inThread = new CallsInThread(mesh, name, rpc.method, spec)
      const refusals = new RefusedCalls(mesh, name, rpc.method)
      methods.set(`/${fullServiceName(file)}/${rpc.name}`, {
        service: name,
        method: rpc.method,
        serverStreams: rpc.serverStreams,
        clientStreams: rpc.clientStreams,
        request: codecs.of(rpc.request),
        response: codecs.of(rpc.response),
        needsClientCertificate: needsCertificate(name, app),
        call: (input, options) => bound(rpc.hasInput ? input : undefined, options),
        refused: (error, trace) => refusals.count(isDeath(error) ? noStatus : error.status, trace),
        start: (input, options, sink) => inThread.start(rpc.hasInput ? input : undefined, options, sink),
      })
    }
  }
  return methods
}

/** Such a call ends like all others that are in flight then. */
function isDeath({ code }: BusbarError<string>): boolean {
  return code === 'WORKER_DIED'
}

/** Services with a route, or the entry. */
export function reachable(services: readonly ProtoService[], { gateway }: Pick<App, 'gateway'>): ProtoService[] {
  const led = new Set([gateway.entry, ...gateway.routes.map(({ service }) => service)])
  return services.filter(({ name }) => led.has(name))
}

/** One route without that need does not lift it: gRPC has no paths to tell them apart. */
function needsCertificate(service: string, { gateway: { routes, tls } }: Pick<App, 'gateway'>): boolean {
  const own = routes.filter((route) => route.service === service)
  const usual = tls?.clientCertificate
  if (own.length === 0) return usual === 'required'
  return own.some(({ clientCertificate }) => (clientCertificate ?? usual) === 'required')
}
