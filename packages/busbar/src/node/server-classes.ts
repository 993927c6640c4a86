/**
 * The classes of a server's requests and responses
 * (`http.createServer({ IncomingMessage, ServerResponse })`). Node keeps both under symbols that
 * are found by their description. HTTP/2 servers have neither.
 */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'

const classes: Readonly<Record<string, unknown>> = { IncomingMessage, ServerResponse }

/** True if the server uses Node's own classes, or exposes none. */
export function usesDefaultClasses(server: Server): boolean {
  return symbolsOf(server).every((symbol) => Reflect.get(server, symbol) === classes[symbol.description!])
}

/** Undefined if a server exposes its classes. */
export function serverClassesFault(): string | undefined {
  class OwnRequest extends IncomingMessage {}
  class OwnResponse extends ServerResponse {}
  const found =
    usesDefaultClasses(createServer()) &&
    !usesDefaultClasses(createServer({ IncomingMessage: OwnRequest })) &&
    !usesDefaultClasses(createServer({ ServerResponse: OwnResponse as never }))
  return found ? undefined : 'a server does not expose the classes of its requests and responses'
}

function symbolsOf(server: Server): symbol[] {
  return Object.getOwnPropertySymbols(server).filter(({ description = '' }) => Object.hasOwn(classes, description))
}
