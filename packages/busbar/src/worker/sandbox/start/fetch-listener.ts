import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** The export of Workers, Bun, Deno, srvx and Hono: `export default { fetch(request) { … } }`. */
export interface FetchHandler {
  fetch(request: Request, bindings?: unknown, context?: unknown): Response | Promise<Response>
}

/** Receives what a handler threw, and returns the text of the response. */
export type ReportFailure = (thrown: unknown) => string

/**
 * Serves a fetch handler on Node. Bodies are streamed both ways, and the request's signal aborts
 * when the caller closes the connection.
 */
export function fetchListener(handler: FetchHandler, report: ReportFailure = printFailure): RequestListener {
  return (incoming, outgoing) => void answer(handler, report, incoming, outgoing)
}

async function answer(
  handler: FetchHandler,
  report: ReportFailure,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  try {
    const request = requestOf(incoming, gone.signal)
    await send(await handler.fetch(request, bindings(incoming, outgoing), context), incoming, outgoing)
  } catch (error) {
    if (gone.signal.aborted) return
    fail(outgoing, report(error))
  }
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headers, url = '/' } = incoming
  const scheme = 'encrypted' in incoming.socket ? 'https' : 'http'
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(new URL(absolute(url, `${scheme}://${headers.host ?? 'localhost'}`)), {
    method,
    headers: headersOf(incoming),
    signal,
    // The fetch standard requires `duplex` for a body that is a stream.
    ...(hasBody && { body: Readable.toWeb(incoming), duplex: 'half' }),
  })
}

function absolute(url: string, origin: string): string {
  return url.startsWith('/') ? origin + url : url
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!)
  return headers
}

async function send(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  outgoing.statusCode = response.status
  if (response.statusText !== '') outgoing.statusMessage = response.statusText
  for (const [name, value] of response.headers) if (name !== 'set-cookie') outgoing.setHeader(name, value)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies)
  if (response.body === null || incoming.method === 'HEAD') {
    await response.body?.cancel()
    outgoing.end()
  } else {
    outgoing.flushHeaders()
    await pipeline(Readable.fromWeb(response.body), outgoing)
  }
}

function fail(outgoing: ServerResponse, text: string): void {
  if (outgoing.headersSent) outgoing.destroy()
  else outgoing.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
}

/**
 * In a worker, the service's own output is the place for it. The caller learns nothing of the code.
 */
function printFailure(thrown: unknown): string {
  console.error(thrown)
  return 'Internal Server Error'
}

/**
 * The second argument: environment variables for a Worker, the raw request for a Hono app on Node.
 * By prototype, to save a copy of the environment.
 */
function bindings(incoming: IncomingMessage, outgoing: ServerResponse): object {
  return Object.assign(Object.create(process.env) as object, { incoming, outgoing })
}

const context = {
  waitUntil(work: Promise<unknown>): void {
    // No response depends on this work, so a failure is only logged.
    void Promise.resolve(work).catch((error: unknown) => console.error(error))
  },
  passThroughOnException(): void {},
}
