import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { App, HttpRedirect, Limits } from '../config/app.ts'
import { toConnectionSink } from '../mesh/sockets/connection-sink.ts'
import { malformed } from './problems/gateway-problems.ts'
import { sendProblem } from './problems/send-problem.ts'
import { announcesBody } from './request-body.ts'
import { checkHost, normalizeTarget } from './routing/request-target.ts'
import { createServer, type GatewayServer } from './server.ts'

/**
 * Answers every request over plain HTTP with the address at which the gateway serves it over TLS.
 */
export class Redirect {
  readonly #server: GatewayServer['server']
  readonly accept: (socket: Socket) => void

  constructor(limits: Limits, { to }: HttpRedirect) {
    const { server } = createServer(limits, undefined, { shouldUpgradeCallback: () => false })
    this.#server = server
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const)
      this.#server.on(event, (req: IncomingMessage, res: ServerResponse) => redirect(req, res, to))
    const sink = toConnectionSink(this.#server)
    this.accept = (socket) => sink.accept(socket)
  }

  close(): void {
    this.#server.close()
  }
}

/** Undefined for an app that has no port for it. */
export function redirectOf({ limits, gateway: { tls } }: Pick<App, 'limits' | 'gateway'>): Redirect | undefined {
  return tls?.redirect && new Redirect(limits, tls.redirect)
}

function redirect(req: IncomingMessage, res: ServerResponse, port: number): void {
  const rejection = normalizeTarget(req) ?? checkHost(req)
  const host = hostOf(req.headers.host)
  // A client that still sends a body must be able to read the response, so its connection stays.
  res.shouldKeepAlive &&= announcesBody(req)
  if (rejection !== undefined || host === '')
    return sendProblem(req, res, malformed(rejection ?? 'it has no host'), req.url)
  const location = `https://${host}${port === 443 ? '' : `:${port}`}${req.url === '*' ? '/' : req.url}`
  req.resume()
  res.writeHead(308, { location, 'content-length': 0 }).end()
}

/** Without its port, and as a URL has it. */
function hostOf(host = ''): string {
  const name = host.replace(/:\d*$/, '')
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
}
