import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** What Workers, Bun, Deno, srvx and Hono export: `export default { fetch(request) { … } }`. */
export interface FetchHandler {
  fetch(request: Request, bindings?: unknown, context?: unknown): Response | Promise<Response>
}

/** Serves such a handler on Node: streams both ways, and the request's signal aborts when the caller goes away. */
export function fetchListener(handler: FetchHandler): RequestListener {
  return (incoming, outgoing) => void answer(handler, incoming, outgoing)
}

async function answer(handler: FetchHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  try {
    const request = requestOf(incoming, gone.signal)
    await send(await handler.fetch(request, bindings(incoming, outgoing), context), incoming, outgoing)
  } catch (error) {
    if (gone.signal.aborted) return
    console.error(error)
    fail(outgoing)
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
    // Half duplex is the word for a body that is sent before the answer is read; a stream must be stated so.
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

function fail(outgoing: ServerResponse): void {
  if (outgoing.headersSent) outgoing.destroy()
  else outgoing.writeHead(500, { 'content-type': 'text/plain' }).end('Internal Server Error')
}

/** A Worker finds its variables here, a Hono app on Node the raw request. The environment is not copied for it. */
function bindings(incoming: IncomingMessage, outgoing: ServerResponse): object {
  return Object.assign(Object.create(process.env) as object, { incoming, outgoing })
}

const context = {
  waitUntil(work: Promise<unknown>): void {
    // Its failure is nobody's answer: it is logged, and the program lives on.
    void Promise.resolve(work).catch((error: unknown) => console.error(error))
  },
  passThroughOnException(): void {},
}
