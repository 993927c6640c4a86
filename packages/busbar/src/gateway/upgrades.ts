import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { App } from '../config/app.ts'
import type { ErrorCode } from '../contract/errors.ts'
import { endConnection } from '../mesh/http/problem-response.ts'
import type { MeshContext } from '../mesh/mesh-context.ts'
import type { Endpoint } from '../mesh/routing/endpoint.ts'
import { type WebSocketEnding, WebSockets } from '../mesh/sockets/web-socket.ts'
import type { WebSocketClose } from '../shared/time/stop-times.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import { acceptsUpgrade, forwardUpgrade } from './forward/forward-upgrade.ts'
import { prepareRequest } from './forward/prepare-request.ts'
import type { Handover } from './handover.ts'
import { PendingUpgrades, type PendingUpgradesParts } from './pending-upgrades.ts'
import { failureProblem, stopping } from './problems/gateway-problems.ts'
import type { RequestRouter } from './routing/request-router.ts'
import { UpgradeCall } from './upgrade-call.ts'

export interface UpgradesParts extends PendingUpgradesParts {
  readonly router: RequestRouter
  readonly connections: Connections
  readonly mesh: MeshContext
  readonly handover: Handover | undefined
  readonly app: Pick<App, 'limits' | 'stopTimeout'>
}

/** Requests for another protocol on their connection, such as WebSockets. */
export class Upgrades {
  readonly #parts: UpgradesParts
  readonly #pending: PendingUpgrades
  /** Those of services elsewhere: programs of this worker have the others. */
  readonly #webSockets = new WebSockets()

  constructor(parts: UpgradesParts) {
    this.#parts = parts
    this.#pending = new PendingUpgrades(parts)
  }

  /**
   * Decides as Node would for the service's own server: without an `upgrade` listener there, the
   * request is an ordinary one.
   */
  wants(req: IncomingMessage): boolean {
    const { router, connections, handover } = this.#parts
    if (connections.of(req.socket)?.state !== 'open') return false
    const result = router.route(req)
    return result.problem === undefined && acceptsUpgrade(req, result.endpoint, handover)
  }

  /**
   * A request for an upgrade that is an ordinary one is the last of its connection: Node's parser
   * drops what came behind it at once, and the client would take the next response for that.
   */
  endsConnection({ headers }: IncomingMessage, { isVirtual }: Connection): boolean {
    if (headers.upgrade === undefined || isVirtual) return false
    return /\bupgrade\b/i.test(headers.connection ?? '')
  }

  open(req: IncomingMessage, socket: Socket, head: Buffer): void {
    const { router, connections, mesh, handover, app, responses } = this.#parts
    const result = router.route(req)
    const connection = connections.of(socket)
    if (result.problem !== undefined || connection === undefined)
      return endConnection(socket, responses.text(result.problem ?? stopping, { path: req.url, method: req.method }))
    const { route, endpoint } = result
    const { service, scope } = route
    connection.state = 'upgraded'
    connections.checkDrained()
    const program = endpoint.at === 'here' && handover?.accepts(endpoint) === true ? endpoint : undefined
    const pending = this.#pending.add(req, connection, service)
    pending.call = new UpgradeCall(mesh, req, connection, result, program?.count)
    prepareRequest(req, result, true)
    if (program !== undefined) return handover!.upgrade(req, socket, head, program, pending.call.within(scope))
    this.#webSockets.addIf(req, socket, endingWith(endpoint, app))
    const onLost = (error: Error): void => pending.fail(failureProblem(error, service))
    const onAnswered = (): void => void (pending.progress = 'answered')
    pending.progress = 'awaited'
    forwardUpgrade({ mesh, route, endpoint, req, socket, head, onAnswered, onLost })
  }

  /** Fails all that have no response. */
  fail(code: ErrorCode): void {
    this.#pending.fail(code)
  }

  async closeWebSockets(close: WebSocketClose): Promise<void> {
    await this.#webSockets.close(close)
  }
}

/** Milliseconds without a message after which the answers of a command count as complete. */
const quiet = 500

/**
 * A command that drains does not close its WebSockets by itself, so they end like those of a
 * program. Undefined for all others.
 */
function endingWith(
  endpoint: Endpoint,
  { limits, stopTimeout }: Pick<App, 'limits' | 'stopTimeout'>,
): WebSocketEnding | undefined {
  const signal = endpoint.at === 'tcp' ? endpoint.connections?.leaving : undefined
  if (signal === undefined) return undefined
  return { signal, close: { after: Math.min(limits.webSocketDrain, stopTimeout / 2), code: 1012, quiet } }
}
