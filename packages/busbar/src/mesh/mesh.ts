import { answerRequests } from './http/answer-requests.ts'
import type { MeshContext } from './mesh-context.ts'
import type { CallHandler } from './links/link.ts'
import { captureConnections } from './sockets/capture.ts'
import { nextHops } from './scope.ts'
import { addHopsHeaders } from './sockets/hops-header.ts'
import { servePrivateSockets } from './sockets/instance/served-instance.ts'
import { answerTypedCalls } from './typed/answer-calls.ts'
import { RequestTracing } from './tracing/client-requests.ts'
import type { TypedMesh } from './typed/mesh-transport.ts'
import { BusbarError } from '../contract/errors.ts'
import type { Router } from './routing/router.ts'
import { reasonUnreachable } from './routing/unreachable.ts'

export interface Mesh extends MeshContext, AsyncDisposable {}

/**
 * Lets the clients in this thread reach the app's services by name, such as
 * `http://catalog.internal/`. Disposing undoes it.
 *
 * Connections are always captured and serve every client. `exchanges` captures some clients before
 * that.
 */
export async function startMesh(options: MeshContext): Promise<Mesh> {
  const { router, maxHops, meter, tracer, gates, exchanges, streams } = options
  const mesh: MeshContext = { router, maxHops, meter, tracer, gates, exchanges, streams }
  const installed = new DisposableStack()
  installed.use(captureConnections(mesh))
  const callees = {
    isCommand: (service: string) => router.isCommand(service),
    templateOf: (...call: [string, string, string]) => meter?.templateOf(...call),
  }
  const tracing = tracer && installed.use(new RequestTracing(tracer, callees))
  installed.use(addHopsHeaders(mesh.router, nextHops, tracing))
  installed.use(servePrivateSockets(mesh))
  if (exchanges !== undefined) installed.use(exchanges.capture(mesh))
  return { ...mesh, [Symbol.asyncDispose]: async () => installed.dispose() }
}

/** Answers every call that arrives over this worker's links, by the kind of the call. */
export function answerLinkCalls(mesh: MeshContext & Pick<TypedMesh, 'validate'>): CallHandler {
  const calls = answerTypedCalls(mesh)
  const handlers = {
    call: calls,
    stream: calls,
    http: answerRequests(mesh),
    bytes: mesh.streams?.answer(mesh) ?? refuseConnection,
    event: answerEvents(mesh.router),
  }
  return (head, payload, ended, channel) => handlers[head.kind](head, payload, ended, channel)
}

/** Without `streams` no worker of this app opens connections over links. */
const refuseConnection: CallHandler = ({ service }, _payload, _isWhole, channel) => {
  const error = {
    code: 'SERVICE_UNAVAILABLE',
    message: 'this worker accepts no connections over links',
    service,
  } as const
  channel.fail(error, true)
  return {}
}

/** Accepts events that arrive over a link, for the instance in this thread. */
function answerEvents(router: Router): CallHandler {
  return ({ service, method: topic, caller, hops, trace, isForeign }, value, _isWhole, channel) => {
    const endpoint = router.local(service)
    const refuse = (error: BusbarError): void => channel.fail(error.toRecord(), true)
    if (isForeign === true)
      refuse(new BusbarError('FORBIDDEN', { message: 'another app sends events only through the cluster', service }))
    else if (endpoint?.state !== 'serving')
      refuse(new BusbarError('SERVICE_UNAVAILABLE', { message: reasonUnreachable(router, service), service }))
    else if (endpoint.typed?.events?.accept(topic, value, { caller, hops, trace }) === true) channel.reply(true, true)
    else
      refuse(new BusbarError('RESOURCE_EXHAUSTED', { message: `${service} accepts no more events ${topic}`, service }))
    return {}
  }
}
