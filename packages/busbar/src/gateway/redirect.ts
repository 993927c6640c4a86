import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { App, HttpRedirect, Limits } from '../config/app.ts'
import { toConnectionSink } from '../mesh/sockets/instance/connection-sink.ts'
import { rejectBadInput } from './bad-input.ts'
import { Connections } from './connections.ts'
import { malformed } from './problems/gateway-problems.ts'
import type { OwnResponses } from './problems/own-responses.ts'
import { announcesBody } from './request-body.ts'
import { RequestContext, type RequestEvent } from './request-context.ts'
import { checkHost, normalizeTarget } from './routing/request-target.ts'
import { createServer, type GatewayServer } from './server.ts'

/**
 * Answers every request over plain HTTP with the address at which the gateway serves it over TLS.
 */
export class Redirect {
  readonly #server: GatewayServer['server']
  readonly #connections: Connections
  readonly #responses: OwnResponses
  readonly #port: number
  readonly accept: (socket: Socket) => void

  constructor(limits: Limits, { to }: HttpRedirect, responses: OwnResponses) {
    const { server } = createServer(limits, undefined, { shouldUpgradeCallback: () => false })
    this.#server = server
    this.#responses = responses
    this.#port = to
    this.#connections = new Connections({ responses, onClosed: () => {}, onSocketClosed: () => {} })
    server.on('connection', (socket: Socket) => this.#connections.add(socket))
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const)
      server.on(event, (req: IncomingMessage, res: ServerResponse) => this.#serve(event, req, res))
    rejectBadInput(server, this.#connections, limits)
    const sink = toConnectionSink(server)
    this.accept = (socket) => sink.accept(socket)
  }

  close(): void {
    this.#server.close()
  }

  /** The connection knows its requests: the response to what comes behind one is the next one. */
  #serve(event: RequestEvent, req: IncomingMessage, res: ServerResponse): void {
    const connection = this.#connections.of(req.socket)
    if (connection?.state !== 'open') return
    const context = new RequestContext(event, req, res, connection)
    connection.addRequest(context)
    res.on('close', () => connection.removeRequest(context))
    this.#answer(req, res)
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const rejection = normalizeTarget(req) ?? checkHost(req)
    const host = hostOf(req.headers.host)
    // A client that still sends a body must be able to read the response, so its connection stays.
    res.shouldKeepAlive &&= announcesBody(req)
    if (rejection !== undefined || host === '')
      return this.#responses.send(req, res, malformed(rejection ?? 'it has no host'), req.url)
    const port = this.#port === 443 ? '' : `:${this.#port}`
    const location = `https://${host}${port}${req.url === '*' ? '/' : req.url}`
    req.resume()
    res.writeHead(308, { location, 'content-length': 0 }).end()
  }
}

/** Undefined for an app that has no port for it. */
export function redirectOf(
  { limits, gateway: { tls } }: Pick<App, 'limits' | 'gateway'>,
  responses: OwnResponses,
): Redirect | undefined {
  return tls?.redirect && new Redirect(limits, tls.redirect, responses)
}

/** Without its port, and as a URL has it. */
function hostOf(host = ''): string {
  const name = host.replace(/:\d*$/, '')
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
}
