import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { BusbarError } from '../contract/errors.ts'
import { serviceNameOf } from '../mesh/routing/service-names.ts'
import { connectToService } from '../shared/calls/forward-request.ts'
import type { CallAccess } from '../shared/calls/call-access.ts'

/** Milliseconds without data after which {@link ServiceFetch.drain} closes a connection. */
const idleLimit = 500

/** As in the global `fetch`. */
const maxRedirects = 20

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])
const credentials = ['authorization', 'proxy-authorization', 'cookie', 'host']
const describingBody = ['content-encoding', 'content-language', 'content-location', 'content-type', 'content-length']

/** Options of `fetch`. Redirects change the method and the headers. */
type Init = RequestInit & { readonly duplex?: 'half' }

/**
 * Calls services by name from the main thread, over the private port for callers outside the
 * workers. Requests use `node:http`, because the global `fetch` has no documented way to pass it a
 * connection.
 */
export class ServiceFetch {
  readonly #access: () => CallAccess
  readonly #isService: (name: string) => boolean
  readonly #sockets = new Set<Socket>()

  constructor(access: () => CallAccess, isService: (name: string) => boolean) {
    this.#access = access
    this.#isService = isService
  }

  async fetch(service: string, path: string, init?: RequestInit | null): Promise<Response> {
    if (typeof path !== 'string' || !path.startsWith('/'))
      throw new BusbarError('REQUEST_MALFORMED', {
        message: `app.fetch got the path ${JSON.stringify(path)}, which does not begin with a slash`,
        hint: "Write a path such as '/items': app.fetch('catalog', '/items').",
        service,
      })
    return await this.#follow(new URL(`http://${service}.internal${path}`), init ?? {}, 0)
  }

  /**
   * Closes connections that receive nothing any more until it is disposed: a response that the
   * caller does not read would delay the stop of the app.
   */
  drain(): Disposable {
    const bytesRead = new Map<Socket, number>()
    const timer = setInterval(() => {
      for (const socket of this.#sockets)
        if (socket.bytesRead > 0 && bytesRead.get(socket) === socket.bytesRead) socket.destroy()
        else bytesRead.set(socket, socket.bytesRead)
    }, idleLimit)
    return { [Symbol.dispose]: () => clearInterval(timer) }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #follow(url: URL, init: Init, count: number): Promise<Response> {
    const service = serviceNameOf(url.hostname)
    if (service === undefined || !this.#isService(service)) return await fetch(url, init)
    const response = await this.#send(service, requestOf(url, init, service), isStream(init.body))
    const location = redirects.has(response.status) ? response.headers.get('location') : null
    if (location === null || init.redirect === 'manual') return withUrl(response, url, count > 0)
    await response.body?.cancel()
    const next = URL.parse(location, url.href)
    const refusal = refusalOf(next, response.status, init, count)
    if (next === null || refusal !== undefined)
      throw new BusbarError('SERVICE_HANGUP', {
        message: `service '${service}' redirects to ${location}, ${refusal}`,
        service,
      })
    return await this.#follow(next, afterRedirect(response.status, init, next.origin === url.origin), count + 1)
  }

  async #send(service: string, request: Request, streamed: boolean): Promise<Response> {
    const { method, signal, headers } = request
    const { pathname, search, host } = new URL(request.url)
    const body = request.body === null || streamed ? undefined : Buffer.from(await request.arrayBuffer())
    const fields: Record<string, string> = { accept: '*/*', ...Object.fromEntries(headers), host }
    if (body !== undefined) fields['content-length'] = `${body.length}`
    else if (!streamed) delete fields['content-length']
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    signal.throwIfAborted()
    const createConnection = (): Socket => this.#connect(service)
    const outgoing = httpRequest({ method, path: pathname + search, headers: fields, createConnection, signal })
    outgoing.once('response', resolve).on('error', reject)
    outgoing.once('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new Error('it changed the protocol of the connection (101), which fetch cannot do'))
    })
    if (streamed) pipeline(Readable.fromWeb(request.body!), outgoing).catch(reject)
    else outgoing.end(body)
    try {
      return toResponse(await promise, request, service)
    } catch (cause) {
      if (signal.aborted) throw signal.reason
      const message = `the call to service '${service}' got no answer: ${(cause as Error).message}`
      throw new BusbarError('SERVICE_UNAVAILABLE', { message, service, cause })
    }
  }

  #connect(service: string): Socket {
    const socket = connectToService(this.#access(), service)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    return socket
  }
}

/**
 * `init` is checked by the constructor of `Request`, except for headers that only `fetch` refuses.
 */
function requestOf(url: URL, init: Init, service: string): Request {
  try {
    const request = new Request(url, withDuplex(init))
    for (const name of ['transfer-encoding', 'upgrade'])
      if (request.headers.has(name)) throw new TypeError(`fetch sends no ${name} header`)
    return request
  } catch (cause) {
    const message = `the options of the call to service '${service}' are not valid: ${(cause as Error).message}`
    throw new BusbarError('REQUEST_MALFORMED', { message, hint: 'They are those of fetch.', service, cause })
  }
}

function toResponse(incoming: IncomingMessage, { method, signal }: Request, service: string): Response {
  const { statusCode: status = 200, statusMessage = '', rawHeaders } = incoming
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!)
  const isEmpty = method === 'HEAD' || withoutBody.has(status)
  if (isEmpty) incoming.resume()
  const body = isEmpty
    ? null
    : withErrors(decompress(Readable.toWeb(incoming) as Body, headers), (cause) => {
        if (signal.aborted) return signal.reason
        const message = `the response of service '${service}' ended early: ${textOf(cause)}`
        return new BusbarError('SERVICE_HANGUP', { message, hint: 'See the log of that service.', service, cause })
      })
  const isStandard = status >= 200 && status <= 599
  const response = new Response(body, { status: isStandard ? status : 200, statusText: statusMessage, headers })
  // The constructor refuses what `fetch` itself returns.
  return isStandard ? response : Object.defineProperties(response, { status: { value: status }, ok: { value: false } })
}

const decompressionFormats: Readonly<Record<string, string>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'brotli',
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>

/** Replaces the error of a stream. */
function withErrors(body: Body, errorOf: (cause: unknown) => unknown): Body {
  return ReadableStream.from(
    (async function* () {
      try {
        yield* body
      } catch (cause) {
        throw errorOf(cause)
      }
    })(),
  )
}

/** Some errors of decompression have only a code. */
function textOf(cause: unknown): string {
  const { message, code } = cause as NodeJS.ErrnoException
  return message || String(code)
}

/** Decompresses the body, as `fetch` does. An unknown encoding leaves it unchanged. */
function decompress(body: Body, headers: Headers): Body {
  const encodings = headers.get('content-encoding')?.toLowerCase().split(',').toReversed() ?? []
  const codings = encodings.map((encoding) => decompressionFormats[encoding.trim()])
  if (codings.includes(undefined)) return body
  return codings.reduce((stream, coding) => stream.pipeThrough(new DecompressionStream(coding as 'gzip')), body)
}

/** Sets the properties that only `fetch` itself can set otherwise. */
function withUrl(response: Response, url: URL, isRedirected: boolean): Response {
  return Object.defineProperties(response, { url: { value: url.href }, redirected: { value: isRedirected } })
}

function isStream(body: unknown): boolean {
  return body instanceof ReadableStream || (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
}

function withDuplex(init: Init): Init {
  return isStream(init.body) ? { ...init, duplex: 'half' } : init
}

/** Why a redirect is not followed (fetch standard, "HTTP-redirect fetch"). */
function refusalOf(next: URL | null, status: number, init: Init, count: number): string | undefined {
  if (init.redirect === 'error') return 'which the call does not allow'
  if (next === null) return 'which is not a URL'
  if (count === maxRedirects) return `after ${maxRedirects} redirects`
  const resent = !becomesGet(status, init) && isStream(init.body)
  return resent ? 'and the body of the request is a stream, which cannot be sent again' : undefined
}

/**
 * The request after a redirect: some become a GET without a body, and credentials stay with the
 * origin that they were meant for (fetch standard, "HTTP-redirect fetch"; cookies as Node does).
 */
function afterRedirect(status: number, init: Init, isSameOrigin: boolean): Init {
  const headers = new Headers(init.headers)
  if (!isSameOrigin) for (const name of credentials) headers.delete(name)
  if (!becomesGet(status, init)) return { ...init, headers }
  for (const name of describingBody) headers.delete(name)
  const { body: _, ...rest } = init
  return { ...rest, headers, method: 'GET' }
}

function becomesGet(status: number, { method: given }: Init): boolean {
  const method = given?.toUpperCase() ?? 'GET'
  return status === 303 ? method !== 'HEAD' && method !== 'GET' : status < 303 && method === 'POST'
}
