import type { LocalEndpoint, RemoteEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import { answerRequests } from '../../../src/mesh/http/answer-requests.ts'
import type { CallHandler } from '../../../src/mesh/links/link.ts'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import { loopbackTransports } from '../../../src/mesh/transports/loopback.ts'
import type { MeshContext } from '../../../src/mesh/mesh-context.ts'
import { servePrivateSockets } from '../../../src/mesh/sockets/instance/served-instance.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { exchanges, streams } from './accelerators.ts'

/** An instance as another worker sees it: at the other end of a link. */
export function linkedEndpoint(
  instance: LocalEndpoint,
  transports = loopbackTransports(),
  maxHops = 8,
): RemoteEndpoint & Disposable {
  const router = new Router([instance.service])
  router.add(instance)
  const [near, far] = transports
  const serving = servePrivateSockets({ router, maxHops })
  const callee = createLink(far, { peer: 1, answer: answerer({ router, maxHops, exchanges, streams }) })
  const link = createLink(near, { peer: 2, answer: nobody })
  return {
    at: 'link',
    service: instance.service,
    worker: 2,
    index: 0,
    row: undefined,
    link,
    path: instance.listener?.path,
    typed: false,
    get state() {
      return instance.state
    },
    [Symbol.dispose]() {
      serving[Symbol.dispose]()
      link.close(over)
      callee.close(over)
    },
  }
}

/** Answers calls as a worker does, except for typed ones. */
export function answerer(mesh: MeshContext): CallHandler {
  const requests = answerRequests(mesh)
  const connections = mesh.streams?.answer(mesh) ?? nobody
  return (head, payload, ended, channel) =>
    (head.kind === 'http' ? requests : connections)(head, payload, ended, channel)
}

export const nobody: CallHandler = (_head, _payload, _ended, channel) => {
  channel.fail({ code: 'SERVICE_UNAVAILABLE', message: 'this side accepts no calls' })
  return {}
}

const over = { code: 'LINK_LOST', message: 'the test is over' } as const
