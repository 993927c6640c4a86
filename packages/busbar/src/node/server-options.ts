/**
 * Options of `http.createServer` that Node keeps under symbols, which are found by their
 * description. HTTP/2 servers have none of them.
 */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'

const standard = createServer()
const descriptions = new Set(['IncomingMessage', 'ServerResponse', 'kUniqueHeaders', 'OptimizeEmptyRequestsOption'])
const defaults = new Map(symbolsOf(standard).map((symbol) => [symbol.description, Reflect.get(standard, symbol)]))

/** False if the server was created with another value of one of these options. */
export function hasDefaultOptions(server: Server): boolean {
  return symbolsOf(server).every((symbol) => Reflect.get(server, symbol) === defaults.get(symbol.description))
}

/** Undefined if a server exposes these options. */
export function serverOptionsFault(): string | undefined {
  class OwnRequest extends IncomingMessage {}
  class OwnResponse extends ServerResponse {}
  const exposesClasses =
    hasDefaultOptions(createServer()) &&
    !hasDefaultOptions(createServer({ IncomingMessage: OwnRequest })) &&
    !hasDefaultOptions(createServer({ ServerResponse: OwnResponse as never }))
  if (!exposesClasses) return 'a server does not expose the classes of its requests and responses'
  const exposesOthers =
    !hasDefaultOptions(createServer({ uniqueHeaders: ['x'] })) &&
    !hasDefaultOptions(createServer({ optimizeEmptyRequests: true }))
  return exposesOthers ? undefined : 'a server does not expose uniqueHeaders and optimizeEmptyRequests'
}

function symbolsOf(server: Server): symbol[] {
  return Object.getOwnPropertySymbols(server).filter(({ description = '' }) => descriptions.has(description))
}
