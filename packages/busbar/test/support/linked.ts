import type { LocalEndpoint, RemoteEndpoint } from '../../src/mesh/endpoint.ts'
import { answerRequests } from '../../src/mesh/http/answer.ts'
import type { Answerer } from '../../src/mesh/links/link.ts'
import { createLink } from '../../src/mesh/links/live-link.ts'
import { memoryPipes } from '../../src/mesh/links/memory.ts'
import type { HttpMesh } from '../../src/mesh/mesh.ts'
import { servePrivateSockets } from '../../src/mesh/sockets/served-instance.ts'
import { Router } from '../../src/mesh/router.ts'
import { exchanges, streams } from './accelerated.ts'

/** A service's instance as another worker sees it: at the other end of a link. */
export function elsewhere(instance: LocalEndpoint, pipes = memoryPipes(), maxHops = 8): RemoteEndpoint & Disposable {
  const router = new Router([instance.service])
  router.add(instance)
  const [near, far] = pipes
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

/** What a worker does with calls that come, but for typed ones. */
export function answerer(mesh: HttpMesh): Answerer {
  const requests = answerRequests(mesh)
  const connections = mesh.streams?.answer(mesh) ?? nobody
  return (head, payload, ended, channel) =>
    (head.kind === 'http' ? requests : connections)(head, payload, ended, channel)
}

export const nobody: Answerer = (_head, _payload, _ended, channel) => {
  channel.fail({ code: 'SERVICE_UNAVAILABLE', message: 'nobody is called here' })
  return {}
}

const over = { code: 'LINK_LOST', message: 'the test is over' } as const
