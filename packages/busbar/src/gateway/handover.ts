import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Endpoint, LocalEndpoint } from '../mesh/endpoint.ts'
import { isChosen } from '../shared/accelerators.ts'
import { hasBody } from './forward.ts'
import type { Way } from './routes.ts'

/** Part of Node's HTTP servers since 24.9, and not in its types yet. */
export interface UpgradeChooser {
  shouldUpgradeCallback(req: IncomingMessage): boolean
}

/** The events of Node's server that carry a request with a response. */
export type RequestEvent = 'request' | 'checkContinue' | 'checkExpectation'

/**
 * Hands a request to the service in this thread: its server gets the very objects that ours was
 * given, so that nothing is copied, parsed or waited for. An `Expect` that the service does not
 * look at is met as Node meets it.
 */
export function handOver(
  endpoint: LocalEndpoint,
  way: Way,
  event: RequestEvent,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const { server, typed } = endpoint
  // What hears it there is ours, and enters the service when it calls a method.
  if (typed !== undefined && event === 'request') return void server.emit('request', req, res)
  const heard = event === 'request' || server.listenerCount(event) > 0
  if (!heard && event === 'checkExpectation') {
    res.writeHead(417).end()
    return
  }
  if (!heard) res.writeContinue()
  inService(endpoint, way, () => server.emit(heard ? event : 'request', req, res))
}

/**
 * Whether the service takes the upgrade; else Node treats it as a plain request. The choice is its
 * server's (Node 24.9). One elsewhere is asked by making the request. Nobody is asked for a change
 * to HTTP/2, which clients offer with any request and Node's servers do not take (RFC 9113 has
 * dropped it), nor for what has a body or is HTTP/1.0 (RFC 9110, 7.8).
 */
export function takesUpgrade(endpoint: Endpoint, req: IncomingMessage): boolean {
  if (hasBody(req) || req.httpVersionMinor === 0 || req.headers.upgrade?.toLowerCase() === 'h2c') return false
  if (endpoint.at !== 'here') return endpoint.at === 'tcp' || !endpoint.typed
  const { server } = endpoint
  return (server as Partial<UpgradeChooser>).shouldUpgradeCallback?.(req) ?? false
}

/**
 * False where it is in another worker, and where the program had its server make requests and
 * responses of classes of its own (`http.createServer({ IncomingMessage, ServerResponse })`): it
 * would miss their methods in ours. Node keeps both under symbols that have no name but their
 * description; servers of HTTP/2 have none, and take ours as they take a request of HTTP/1.
 */
export function takesOurObjects(endpoint: Endpoint): endpoint is LocalEndpoint {
  if (endpoint.at !== 'here' || !isChosen('handover')) return false
  const { server } = endpoint
  let takes = known.get(server)
  if (takes === undefined) {
    const own = Object.getOwnPropertySymbols(server).filter(({ description = '' }) =>
      Object.hasOwn(classes, description),
    )
    takes = own.every((symbol) => Reflect.get(server, symbol) === classes[symbol.description as keyof typeof classes])
    known.set(server, takes)
  }
  return takes
}

/** Undefined where a server shows the classes of its requests and responses. */
export function handoverFault(): unknown {
  const shown = new Set(Object.getOwnPropertySymbols(createServer()).map(({ description }) => description))
  const missing = Object.keys(classes).filter((name) => !shown.has(name))
  return missing.length === 0 ? undefined : `a server does not show its ${missing.join(' and ')}`
}

const classes = { IncomingMessage, ServerResponse }
const known = new WeakMap<LocalEndpoint['server'], boolean>()

/** `head` is what the client sent behind its request. */
export function handOverUpgrade(
  endpoint: LocalEndpoint,
  way: Way,
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  inService(endpoint, way, () => endpoint.server.emit('upgrade', req, socket, head))
}

/**
 * A listener that throws must be the service's fault, and not ours: its error is thrown anew where
 * only the service's own context is around it, so that whoever hears of it knows whose it is.
 */
function inService(endpoint: LocalEndpoint, { scope }: Way, callback: () => void): void {
  endpoint.enter(scope, () => {
    try {
      callback()
    } catch (error) {
      process.nextTick(() => {
        throw error
      })
    }
  })
}
