import type { Trace } from '../context.ts'
import { BusbarError } from '../errors.ts'
import { inputsUnsupported } from '../client/http/unsupported.ts'
import type { TypedHost } from '../host/typed-host.ts'
import type { HostedMethod } from '../host/hosted-method.ts'
import { Responder, type StartedCall, type ResponseSink } from './responder.ts'
import {
  first,
  jsonType,
  readable,
  readContent,
  refusal,
  type RequestHeaders,
  timeoutHeader,
} from './request-content.ts'
import { formatFor } from './stream-format.ts'
import { kindOf } from './mapping/field-kinds.ts'
import { readInput } from './mapping/mapped-input.ts'
import type { HttpMapping } from './mapping/http-mapping.ts'
import { MethodRoutes, type RouteMatch } from './mapping/method-routes.ts'
import { dialectFor } from './accept.ts'

export interface HttpHandlerOptions {
  /** Maximum size of a request body in bytes. */
  readonly maxInputSize: number
  /** How many calls precede the current request in the chain, if that is counted. */
  readonly hops?: () => number
}

/** The head of a request, independent of the server. */
export interface HttpRequestHead {
  readonly verb: string
  /** The path with its query. */
  readonly url: string
  readonly headers: RequestHeaders
}

/** A request whose method is known, before its body is read. */
export interface RoutedRequest {
  readonly request: HttpRequestHead
  readonly hosted: HostedMethod
  readonly found: RouteMatch
  readonly query: string
}

/**
 * A body as the adapter has it: text, undefined without a body, or a value already parsed from
 * JSON.
 */
export type HttpRequestBody = string | undefined | { readonly value: unknown }

/** In bytes: an input is read completely before it is validated. */
export const defaultMaxInputSize = 4 * 1024 * 1024

/**
 * Serves a typed service over HTTP, independent of server and runtime: an adapter reads the body
 * and writes the response. Inputs and results are always validated here, at the boundary to outside
 * callers.
 */
export class HttpHandler {
  readonly #host: TypedHost
  readonly #routes: MethodRoutes
  readonly #options: HttpHandlerOptions

  constructor(host: TypedHost, options: HttpHandlerOptions) {
    this.#host = host
    this.#routes = new MethodRoutes(host.name, host.contract)
    this.#options = options
  }

  get maxInputSize(): number {
    return this.#options.maxInputSize
  }

  /** Whether a method exists at this path (without a query). */
  has(verb: string, path: string): boolean {
    return this.#routes.find(verb, path) !== undefined
  }

  /** Routes a request by its head. Throws the BusbarError to answer with. */
  route(request: HttpRequestHead): RoutedRequest {
    const routed = this.find(request)
    if (routed === undefined) throw this.#unknown(request)
    if (Number(request.headers['content-length'] ?? 0) > this.#options.maxInputSize) throw this.tooLarge()
    return routed
  }

  /** For a request that a router has already matched. */
  routeTo(request: HttpRequestHead, found: RouteMatch): RoutedRequest {
    const mark = request.url.indexOf('?')
    const query = mark < 0 ? '' : request.url.slice(mark + 1)
    const hosted = this.#host.method(found.name)
    if (hosted.spec.takesMany === true) throw inputsUnsupported(this.#host.name, found.name)
    return { request, found, query, hosted }
  }

  /**
   * Undefined if no method matches. Throws METHOD_UNKNOWN for a plain class without such a method.
   */
  find(request: HttpRequestHead): RoutedRequest | undefined {
    const { verb, url } = request
    const mark = url.indexOf('?')
    const found = this.#find(verb, mark < 0 ? url : url.slice(0, mark))
    return found && this.routeTo(request, found)
  }

  /** HEAD is handled as GET (RFC 9110, 9.3.2); the adapter leaves out the body. */
  #find(verb: string, path: string): RouteMatch | undefined {
    if (verb !== 'HEAD') return this.#routes.find(verb, path)
    const found = this.#routes.find('GET', path)
    return found !== undefined && this.#host.method(found.name).spec.kind === 'fn' ? found : undefined
  }

  tooLarge(): BusbarError {
    const { maxInputSize } = this.#options
    return refusal('BODY_TOO_LARGE', `the input is larger than ${maxInputSize} bytes`, this.#host.name)
  }

  /**
   * Starts the call; returns a promise if validating its input is asynchronous. Throws, or rejects
   * with, the BusbarError of an unreadable input; a failure of the call itself is a response.
   * `body` is undefined if there is none.
   */
  begin(routed: RoutedRequest, body: HttpRequestBody, reply: ResponseSink): StartedCall | Promise<StartedCall> {
    const { hosted, request, found } = routed
    const content = this.#content(hosted, request, body)
    if (found.mapping === undefined) return this.#call(routed, content, reply)
    const input = this.#mapped(routed, found.mapping, content)
    return input instanceof Promise
      ? input.then((later) => this.#call(routed, later, reply))
      : this.#call(routed, input, reply)
  }

  #call({ hosted, request: { headers } }: RoutedRequest, input: unknown, reply: ResponseSink): StartedCall {
    const call = hosted.open({
      metadata: headers as never,
      timeout: timeoutOf(headers, hosted.site.service),
      trace: traceOf(headers),
      hops: this.#options.hops?.(),
      mayAbort: true,
    })
    if (hosted.spec.kind === 'fn')
      hosted.callWithCallback(
        new Responder(hosted, call, dialectFor(first(headers['accept'])), reply),
        input,
        call,
        true,
      )
    else {
      const stream = hosted.stream(input, call, true)
      reply.stream({ stream, format: formatFor(first(headers['accept'])), site: hosted.site })
    }
    return call
  }

  /** The input of a mapped method, or a promise of it if its schema is asynchronous. */
  #mapped({ hosted, found, query }: RoutedRequest, mapping: HttpMapping, content: unknown): unknown {
    const { parameters = {} } = found
    const parts = { query, parameters, content }
    return readable(hosted.site, () => readInput(mapping, hosted.spec.input, parts, kindOf))
  }

  #content(hosted: HostedMethod, { headers }: HttpRequestHead, body: HttpRequestBody): unknown {
    if (typeof body === 'object') return body.value
    if (body === undefined || body === '') return undefined
    const type = first(headers['content-type'])
    if (type !== 'application/json' && (type === undefined || !jsonType.test(type)))
      throw refusal(
        'MEDIA_TYPE_UNSUPPORTED',
        `the content type of the input is ${type ?? 'missing'}, not application/json`,
        hosted.site.service,
      )
    return readContent(body, hosted.site)
  }

  /** Includes HEAD if GET has a single response, not a stream. */
  #verbsAt(path: string): string[] {
    return this.#routes.findAll(path).flatMap(({ verb, name }) => {
      const hasHead = verb === 'GET' && this.#host.method(name).spec.kind === 'fn'
      return hasHead ? [verb, 'HEAD'] : [verb]
    })
  }

  #unknown({ verb, url }: HttpRequestHead): BusbarError {
    const [path = ''] = url.split('?', 1)
    const allow = this.#verbsAt(path)
    if (allow.length > 0) return notAllowed(this.#host.name, `${verb} ${path}`, allow)
    const nearest = this.#routes.nearest(path)
    return new BusbarError('METHOD_UNKNOWN', {
      message: `service '${this.#host.name}' has no method at ${verb} ${path.slice(0, 128)}; the nearest are ${nearest.join(', ')}`,
      service: this.#host.name,
      data: { nearest },
    })
  }
}

function notAllowed(service: string, asked: string, allow: readonly string[]): BusbarError {
  const message = `service '${service}' does not support ${asked.slice(0, 128)}; this path supports ${allow.join(', ')}`
  return new BusbarError('METHOD_NOT_ALLOWED', { message, service, data: { allow } })
}

function timeoutOf(headers: RequestHeaders, service: string): number | undefined {
  const text = headers[timeoutHeader]
  if (text === undefined) return undefined
  if (typeof text === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return Number(text)
  const message = `the header ${timeoutHeader} is ${JSON.stringify(text)}, not a number of milliseconds`
  throw refusal('REQUEST_MALFORMED', message, service)
}

function traceOf(headers: RequestHeaders): Trace | undefined {
  const traceparent = first(headers['traceparent'])
  if (traceparent === undefined) return undefined
  const tracestate = first(headers['tracestate'])
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}
