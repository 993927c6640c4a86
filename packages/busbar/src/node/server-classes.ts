/**
 * The classes of which an HTTP server makes its requests and responses (`http.createServer({ IncomingMessage, ServerResponse })`).
 * Node keeps both under symbols that only their descriptions name; servers of HTTP/2 have none.
 */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'

const classes: Readonly<Record<string, unknown>> = { IncomingMessage, ServerResponse }

/** Whether the server's requests and responses are of Node's own classes, or of none that it shows. */
export function makesPlainObjects(server: Server): boolean {
  return symbolsOf(server).every((symbol) => Reflect.get(server, symbol) === classes[symbol.description!])
}

/** Undefined where a server shows its classes. */
export function serverClassesFault(): string | undefined {
  class OwnRequest extends IncomingMessage {}
  class OwnResponse extends ServerResponse {}
  const found =
    makesPlainObjects(createServer()) &&
    !makesPlainObjects(createServer({ IncomingMessage: OwnRequest })) &&
    !makesPlainObjects(createServer({ ServerResponse: OwnResponse as never }))
  return found ? undefined : 'a server does not show of which classes it makes requests and responses'
}

function symbolsOf(server: Server): symbol[] {
  return Object.getOwnPropertySymbols(server).filter(({ description = '' }) => Object.hasOwn(classes, description))
}
