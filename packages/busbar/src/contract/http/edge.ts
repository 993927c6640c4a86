import type { Trace } from '../context.ts'
import { BusbarError } from '../errors.ts'
import type { TypedHost } from '../host/host.ts'
import type { HostedMethod } from '../host/hosted-method.ts'
import { Answering, type EdgeCall, type EdgeReply } from './answering.ts'
import { first, jsonType, readable, readContent, refusal, type RequestHeaders, timeoutHeader } from './content.ts'
import { formatFor } from './events.ts'
import { kindOf } from './field-kinds.ts'
import { readInput } from './mapped-input.ts'
import type { HttpMapping } from './mapping.ts'
import { Paths, type Found } from './paths.ts'
import { readerOf } from './readers.ts'

export interface EdgeOptions {
  /** Bytes of a request's body. */
  readonly maxInputSize: number
  /** How many calls led to the request that is being served, where somebody counts. */
  readonly hops?: () => number
}

/** The head of a request, whoever brought it. */
export interface EdgeRequest {
  readonly verb: string
  /** With its query. */
  readonly url: string
  readonly headers: RequestHeaders
}

/** A request whose method is known; its body is to be read. */
export interface Directed {
  readonly request: EdgeRequest
  readonly hosted: HostedMethod
  readonly found: Found
  readonly query: string
}

/** A body as its adapter has it: text, undefined where there is none, or a value that was read from JSON already. */
export type EdgeBody = string | undefined | { readonly value: unknown }

/** Bytes: an input is read whole before anybody looks at it. */
export const defaultMaxInputSize = 4 * 1024 * 1024

/**
 * A typed service over HTTP, told by neither server nor runtime: an adapter reads the body and writes the answer. Schemas
 * are always asked here, of inputs and results: this is where others come in.
 */
export class HttpEdge {
  readonly #host: TypedHost
  readonly #paths: Paths
  readonly #options: EdgeOptions

  constructor(host: TypedHost, options: EdgeOptions) {
    this.#host = host
    this.#paths = new Paths(host.name, host.contract)
    this.#options = options
  }

  get maxInputSize(): number {
    return this.#options.maxInputSize
  }

  /** Whether a method is at this path, which has no query. */
  has(verb: string, path: string): boolean {
    return this.#paths.find(verb, path) !== undefined
  }

  /** Judges a request by its head. Throws the BusbarError that it is to be answered with. */
  direct(request: EdgeRequest): Directed {
    const directed = this.find(request)
    if (directed === undefined) throw this.#unknown(request)
    if (Number(request.headers['content-length'] ?? 0) > this.#options.maxInputSize) throw this.tooLarge()
    return directed
  }

  /** A request whose method a router has found. */
  directTo(request: EdgeRequest, found: Found): Directed {
    const mark = request.url.indexOf('?')
    const query = mark < 0 ? '' : request.url.slice(mark + 1)
    return { request, found, query, hosted: this.#host.method(found.name) }
  }

  /** Undefined: it asks for no method. Throws METHOD_UNKNOWN for one that a plain class has not. */
  find(request: EdgeRequest): Directed | undefined {
    const { verb, url } = request
    const mark = url.indexOf('?')
    const found = this.#find(verb, mark < 0 ? url : url.slice(0, mark))
    return found && this.directTo(request, found)
  }

  /** HEAD asks what GET would answer (RFC 9110, 9.3.2); whoever writes the answer leaves its body out. */
  #find(verb: string, path: string): Found | undefined {
    if (verb !== 'HEAD') return this.#paths.find(verb, path)
    const found = this.#paths.find('GET', path)
    return found !== undefined && this.#host.method(found.name).spec.kind === 'fn' ? found : undefined
  }

  tooLarge(): BusbarError {
    const { maxInputSize } = this.#options
    return refusal('BODY_TOO_LARGE', `the input is larger than ${maxInputSize} bytes`, this.#host.name)
  }

  /**
   * Makes the call; a promise where its input is not known at once. Throws, or rejects with, the BusbarError of an input
   * that cannot be read; the call's own failure is an answer. `body`: undefined where there is none.
   */
  begin(directed: Directed, body: EdgeBody, reply: EdgeReply): EdgeCall | Promise<EdgeCall> {
    const { hosted, request, found } = directed
    const content = this.#content(hosted, request, body)
    if (found.mapping === undefined) return this.#call(directed, content, reply)
    const input = this.#mapped(directed, found.mapping, content)
    return input instanceof Promise
      ? input.then((later) => this.#call(directed, later, reply))
      : this.#call(directed, input, reply)
  }

  #call({ hosted, request: { headers } }: Directed, input: unknown, reply: EdgeReply): EdgeCall {
    const call = hosted.open({
      metadata: headers as never,
      timeout: timeoutOf(headers, hosted.site.service),
      trace: traceOf(headers),
      hops: this.#options.hops?.(),
      mayAbort: true,
    })
    if (hosted.spec.kind === 'fn')
      hosted.tell(new Answering(hosted, call, readerOf(first(headers['accept'])), reply), input, call, true)
    else {
      const stream = hosted.stream(input, call, true)
      reply.stream({ stream, format: formatFor(first(headers['accept'])), site: hosted.site })
    }
    return call
  }

  /** The input of a mapped method; a promise where its schema is asynchronous. */
  #mapped({ hosted, found, query }: Directed, mapping: HttpMapping, content: unknown): unknown {
    const { parameters = {} } = found
    const parts = { query, parameters, content }
    return readable(hosted.site, () => readInput(mapping, hosted.spec.input, parts, kindOf))
  }

  #content(hosted: HostedMethod, { headers }: EdgeRequest, body: EdgeBody): unknown {
    if (typeof body === 'object') return body.value
    if (body === undefined || body === '') return undefined
    const type = first(headers['content-type'])
    if (type !== 'application/json' && (type === undefined || !jsonType.test(type)))
      throw refusal(
        'MEDIA_TYPE_UNSUPPORTED',
        `the input is ${type ?? 'of no type'}, and not application/json`,
        hosted.site.service,
      )
    return readContent(body, hosted.site)
  }

  /** With HEAD, where GET answers with one piece. */
  #verbsAt(path: string): string[] {
    return this.#paths.findAll(path).flatMap(({ verb, name }) => {
      const hasHead = verb === 'GET' && this.#host.method(name).spec.kind === 'fn'
      return hasHead ? [verb, 'HEAD'] : [verb]
    })
  }

  #unknown({ verb, url }: EdgeRequest): BusbarError {
    const [path = ''] = url.split('?', 1)
    const allow = this.#verbsAt(path)
    if (allow.length > 0) return notAllowed(this.#host.name, `${verb} ${path}`, allow)
    const nearest = this.#paths.nearest(path)
    return new BusbarError('METHOD_UNKNOWN', {
      message: `service ${this.#host.name} has no method at ${verb} ${path.slice(0, 128)}; the nearest are ${nearest.join(', ')}`,
      service: this.#host.name,
      data: { nearest },
    })
  }
}

function notAllowed(service: string, asked: string, allow: readonly string[]): BusbarError {
  const message = `service ${service} does not answer ${asked.slice(0, 128)}; this path takes ${allow.join(', ')}`
  return new BusbarError('METHOD_NOT_ALLOWED', { message, service, data: { allow } })
}

function timeoutOf(headers: RequestHeaders, service: string): number | undefined {
  const text = headers[timeoutHeader]
  if (text === undefined) return undefined
  if (typeof text === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return Number(text)
  const message = `the header ${timeoutHeader} is ${JSON.stringify(text)}, and no number of milliseconds`
  throw refusal('REQUEST_MALFORMED', message, service)
}

function traceOf(headers: RequestHeaders): Trace | undefined {
  const traceparent = first(headers['traceparent'])
  if (traceparent === undefined) return undefined
  const tracestate = first(headers['tracestate'])
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}
