// Browser code is often compiled with a `lib` without `AsyncDisposable`, where an unknown name
// would make the type `any`.
/// <reference lib="esnext.disposable" preserve="true" />
import type { Log } from '../context.ts'
import { BusbarError } from '../errors.ts'
import type { TypedHost } from '../host/typed-host.ts'
import { LazyHost } from '../host/lazy-host.ts'
import type { Implementation } from '../implementation.ts'
import { describeContract } from '../openapi/document.ts'
import type { Converters } from '../openapi/json-schema.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { failure, type HttpResponse, type StartedCall, type StreamResponse } from './responder.ts'
import { encodingFault, refusal } from './request-content.ts'
import { defaultMaxInputSize, HttpHandler } from './http-handler.ts'
import { openStream, streamBody } from './stream-body.ts'

export interface FetchHandlerOptions {
  /** Path prefix of the service, if the server has not removed it: `/api`. */
  readonly prefix?: string
  /** Maximum size of an input in bytes. Default: 4 MB. */
  readonly maxInputSize?: number
  /** Other origins whose pages may call. Default: none. */
  readonly cors?: readonly string[]
  /** Serves the contract as `GET /openapi.json`; for Valibot, pass its converter. Default: true. */
  readonly openapi?: boolean | Converters
  /** Implementations of services that it calls, in the same process. Default: none. */
  readonly calls?: readonly Implementation[]
  /** Default: the console. */
  readonly log?: Log
}

/** Never rejects: errors become responses. */
export interface FetchHandler extends AsyncDisposable {
  (request: Request): Promise<Response>
}

/**
 * Serves a typed service wherever a `Request` becomes a `Response`:
 * `app.mount('/api', fetchHandler(catalog))` in Hono, `Deno.serve(fetchHandler(catalog))`, or in a
 * service worker. The first request starts the implementation; disposing the handler stops it.
 */
export function fetchHandler(implementation: Implementation, options: FetchHandlerOptions = {}): FetchHandler {
  const { log = console, calls = [], cors = [] } = options
  const service = new LazyHost(implementation, { log, calls })
  let server: Promise<FetchServer> | undefined
  const answer = async (request: Request): Promise<Response> => {
    try {
      server ??= service.get().then((host) => new FetchServer(host, options))
      return await (await server).answer(request)
    } catch (error) {
      await discardBody(request)
      return toResponse(failure(BusbarError.from(error)))
    }
  }
  const handle = async (request: Request): Promise<Response> => await withCors(cors, request, answer)
  return Object.assign(handle, { [Symbol.asyncDispose]: () => service.stop() })
}

async function withCors(
  cors: readonly string[],
  request: Request,
  answer: (request: Request) => Promise<Response>,
): Promise<Response> {
  const origin = request.headers.get('origin')
  if (origin === null) return await answer(request)
  const headers = corsHeaders(cors, origin)
  const asked = request.headers.get('access-control-request-headers') ?? undefined
  const isPreflight = request.method === 'OPTIONS' && request.headers.has('access-control-request-method')
  const response = isPreflight
    ? new Response(null, { status: 204, headers: preflightHeaders('access-control-allow-origin' in headers, asked) })
    : await answer(request)
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}

/** Discards the unread body of a request that was answered by its head, or failed. */
async function discardBody({ body, bodyUsed }: Request): Promise<void> {
  if (body !== null && !bodyUsed) await body.cancel().catch(() => {})
}

class FetchServer {
  readonly #handler: HttpHandler
  readonly #host: TypedHost
  readonly #options: FetchHandlerOptions
  readonly #prefix: string
  #document: string | undefined

  constructor(host: TypedHost, options: FetchHandlerOptions) {
    const { maxInputSize = defaultMaxInputSize, prefix = '' } = options
    this.#handler = new HttpHandler(host, { maxInputSize })
    this.#host = host
    this.#options = options
    this.#prefix = prefix.replace(/\/+$/, '')
  }

  async answer(request: Request): Promise<Response> {
    const { method, headers } = request
    try {
      const url = this.#pathOf(request.url)
      if (this.#asksForDocument(method, url)) return documentResponse((this.#document ??= this.#describe()), method)
      const routed = this.#handler.route({ verb: method, url, headers: Object.fromEntries(headers) })
      if (request.signal.aborted)
        throw refusal('CALL_ABORTED', 'the client disconnected before its call started', this.#host.name)
      const fault = request.body && encodingFault(routed.request.headers, this.#host.name)
      if (fault) throw fault
      const body = request.body === null ? undefined : await readText(request.body, this.#handler)
      const replied = Promise.withResolvers<HttpResponse | StreamResponse>()
      const reply = { answer: replied.resolve, stream: replied.resolve }
      const call = await this.#handler.begin(routed, body, reply)
      const response = await respond(call, replied.promise, request.signal)
      return method === 'HEAD' ? new Response(null, response) : response
    } catch (thrown) {
      await discardBody(request)
      return toResponse(failure(BusbarError.from(thrown)))
    }
  }

  /** The path with its query, without the prefix. */
  #pathOf(url: string): string {
    const { pathname, search } = new URL(url)
    const isBelow = pathname === this.#prefix || pathname.startsWith(`${this.#prefix}/`)
    return (isBelow ? pathname.slice(this.#prefix.length) || '/' : pathname) + search
  }

  #asksForDocument(method: string, url: string): boolean {
    if (this.#options.openapi === false || url !== '/openapi.json') return false
    return (method === 'GET' || method === 'HEAD') && !this.#handler.has('GET', url)
  }

  #describe(): string {
    const { openapi } = this.#options
    const { contract, name } = this.#host
    return JSON.stringify(describeContract(contract, { name, ...(typeof openapi === 'object' && openapi) }))
  }
}

function documentResponse(document: string, method: string): Response {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache' }
  return new Response(method === 'HEAD' ? null : document, { headers })
}

async function respond(
  call: StartedCall,
  replied: Promise<HttpResponse | StreamResponse>,
  signal: AbortSignal,
): Promise<Response> {
  const abandon = (): void => call.abandon()
  if (signal.aborted) abandon()
  signal.addEventListener('abort', abandon, { once: true })
  const answer = await replied
  if ('stream' in answer) return await streamResponse(answer)
  signal.removeEventListener('abort', abandon)
  return toResponse(answer)
}

async function streamResponse(answer: StreamResponse): Promise<Response> {
  const opened = await openStream(answer)
  if ('error' in opened) return toResponse(failure(opened.error, answer.stream.call.headers))
  return new Response(streamBody(answer, opened.first), { headers: opened.headers })
}

function toResponse({ status, headers, body }: HttpResponse): Response {
  return new Response(body ?? null, { status, headers })
}

async function readText(body: ReadableStream<Uint8Array>, handler: HttpHandler): Promise<string> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw refusal('CALL_ABORTED', 'the client disconnected before its input was complete', 'gateway')
    })
    if (done) return toText(chunks)
    chunks.push(value)
    if ((size += value.length) <= handler.maxInputSize) continue
    await reader.cancel().catch(() => {})
    throw handler.tooLarge()
  }
}

/** JSON is UTF-8 (RFC 8259, 8.1). Replacement characters would be input that nobody sent. */
function toText(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode()
  } catch {
    throw refusal('REQUEST_MALFORMED', 'the input is not UTF-8', 'gateway')
  }
}
