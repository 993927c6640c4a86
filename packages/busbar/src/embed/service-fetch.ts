import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { BusbarError } from '../contract/errors.ts'
import { serviceNameIn } from '../mesh/service-name.ts'
import { writePreamble } from '../mesh/relay/preamble.ts'
import type { CallAccess } from '../shared/call-access.ts'

/** Milliseconds without a byte of an answer that has begun. */
const silence = 500

/** As many as the global `fetch` follows. */
const mostRedirects = 20

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

/** What `fetch` takes; the method and the headers of a redirected request differ. */
type Init = RequestInit & { readonly duplex?: 'half' }

/**
 * Calls services from the main thread by their names, over the private port for callers outside of the workers. There is no
 * documented way to give the global `fetch` a connection, so requests are made by `node:http`.
 */
export class ServiceFetch {
  readonly #access: () => CallAccess
  readonly #isService: (name: string) => boolean
  readonly #sockets = new Set<Socket>()

  constructor(access: () => CallAccess, isService: (name: string) => boolean) {
    this.#access = access
    this.#isService = isService
  }

  async fetch(service: string, path: string, init: RequestInit = {}): Promise<Response> {
    if (typeof path !== 'string' || !path.startsWith('/'))
      throw new BusbarError('REQUEST_MALFORMED', {
        message: `app.fetch was given ${JSON.stringify(path)} as a path`,
        hint: "A path begins with a slash: app.fetch('catalog', '/items').",
        service,
      })
    return await this.#follow(new URL(`http://${service}.internal${path}`), init, 0)
  }

  /** Ends connections on which nothing comes any more: an answer that nobody reads would hold up the stop of the app. */
  drain(): Disposable {
    const read = new Map<Socket, number>()
    const timer = setInterval(() => {
      for (const socket of this.#sockets)
        if (socket.bytesRead > 0 && read.get(socket) === socket.bytesRead) socket.destroy()
        else read.set(socket, socket.bytesRead)
    }, silence)
    return { [Symbol.dispose]: () => clearInterval(timer) }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #follow(url: URL, init: Init, count: number): Promise<Response> {
    const service = serviceNameIn(url.hostname)
    if (service === undefined || !this.#isService(service)) return await fetch(url, init)
    const response = await this.#send(service, new Request(url, streaming(init)), isStream(init.body))
    const location = redirects.has(response.status) ? response.headers.get('location') : null
    if (location === null || init.redirect === 'manual') return described(response, url, count > 0)
    await response.body?.cancel()
    if (init.redirect === 'error' || count === mostRedirects)
      throw new BusbarError('SERVICE_HANGUP', {
        message: `service ${service} redirects to ${location}, ${count === 0 ? 'which the call does not allow' : 'like many before'}`,
        service,
      })
    return await this.#follow(new URL(location, url), redirected(response.status, init), count + 1)
  }

  async #send(service: string, request: Request, streamed: boolean): Promise<Response> {
    const { method, signal, headers } = request
    const { pathname, search, host } = new URL(request.url)
    const body = request.body === null || streamed ? undefined : Buffer.from(await request.arrayBuffer())
    const fields: Record<string, string> = { accept: '*/*', ...Object.fromEntries(headers), host }
    if (body !== undefined) fields['content-length'] = `${body.length}`
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    signal.throwIfAborted()
    const createConnection = (): Socket => this.#connect(service)
    const outgoing = httpRequest({ method, path: pathname + search, headers: fields, createConnection, signal })
    outgoing.once('response', resolve).on('error', reject)
    if (streamed) pipeline(Readable.fromWeb(request.body!), outgoing).catch(reject)
    else outgoing.end(body)
    try {
      return toResponse(await promise, method)
    } catch (cause) {
      if (signal.aborted) throw signal.reason
      const message = `the call to service ${service} got no answer: ${(cause as Error).message}`
      throw new BusbarError('SERVICE_UNAVAILABLE', { message, service, cause })
    }
  }

  #connect(service: string): Socket {
    const { ports, token } = this.#access()
    const socket = connect({ host: '127.0.0.1', port: ports.find(({ route }) => route === undefined)!.port })
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    // What is written while a socket connects goes out first. The caller is no service, so it has no name.
    socket.write(writePreamble({ token, verb: 'connect', service, port: 80, caller: '', hops: 0 }))
    return socket
  }
}

function toResponse(incoming: IncomingMessage, method: string): Response {
  const { statusCode: status = 200, statusMessage = '', rawHeaders } = incoming
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!)
  const isEmpty = method === 'HEAD' || withoutBody.has(status)
  if (isEmpty) incoming.resume()
  const body = isEmpty ? null : decoded(Readable.toWeb(incoming) as ReadableStream<Uint8Array<ArrayBuffer>>, headers)
  return new Response(body, { status, statusText: statusMessage, headers })
}

const formats: Readonly<Record<string, string>> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'brotli' }

/** As `fetch` does it; what it does not know it leaves as it is. */
function decoded(body: ReadableStream<Uint8Array<ArrayBuffer>>, headers: Headers): ReadableStream {
  const said = headers.get('content-encoding')?.toLowerCase().split(',').toReversed() ?? []
  const codings = said.map((coding) => formats[coding.trim()])
  if (codings.includes(undefined)) return body
  return codings.reduce((stream, coding) => stream.pipeThrough(new DecompressionStream(coding as 'gzip')), body)
}

/** `fetch` alone can make a response that has an address. */
function described(response: Response, url: URL, isRedirected: boolean): Response {
  return Object.defineProperties(response, { url: { value: url.href }, redirected: { value: isRedirected } })
}

function isStream(body: unknown): boolean {
  return body instanceof ReadableStream || (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
}

function streaming(init: Init): Init {
  return isStream(init.body) ? { ...init, duplex: 'half' } : init
}

/** The fetch standard, "HTTP-redirect fetch": which requests become a GET without a body. */
function redirected(status: number, init: Init): Init {
  const method = init.method?.toUpperCase() ?? 'GET'
  const becomesGet = status === 303 ? method !== 'HEAD' && method !== 'GET' : status < 303 && method === 'POST'
  if (!becomesGet) return init
  const headers = new Headers(init.headers)
  for (const name of ['content-encoding', 'content-language', 'content-location', 'content-type', 'content-length'])
    headers.delete(name)
  const { body: _, ...rest } = init
  return { ...rest, headers, method: 'GET' }
}
