import type { Trace } from '../context.ts'
import type { CallSite, LiveCall } from '../call.ts'
import { BusbarError, type ErrorCode } from '../errors.ts'
import type { TypedHost } from '../host/host.ts'
import type { Asker, HostedMethod } from '../host/hosted-method.ts'
import type { LiveStream } from '../host/live-stream.ts'
import { fromUncarriable, toCallError } from '../host/failures.ts'
import { checkOf, type Check, type Checked } from '../schema.ts'
import { decodeJson, MalformedJson } from '../value/decode.ts'
import { encodeJson } from '../value/encode.ts'
import { formatFor, type EventFormat } from './events.ts'
import { hasQuery, type HttpMapping } from './mapping.ts'
import { Paths, type Found } from './paths.ts'
import { problemHeaders, problemType, toProblem } from './problem.ts'
import { parseQuery, readText } from './text-fields.ts'
import { isUntagged } from './untagged.ts'

export interface EdgeOptions {
  /** Bytes of a request's body. */
  readonly maxInputSize: number
  /** How many calls led to the request that is being served, where somebody counts. */
  readonly hops?: () => number
}

/** A result as JSON. */
type Write = (result: unknown) => string

/** The head of a request, whoever brought it. */
export interface EdgeRequest {
  readonly verb: string
  /** With its query. */
  readonly url: string
  /** In lower case; what is repeated is joined. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** A request whose method is known; its body is to be read. */
export interface Directed {
  readonly request: EdgeRequest
  readonly hosted: HostedMethod
  readonly found: Found
  readonly query: string
}

export interface EdgeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: there is none. */
  readonly body: string | undefined
}

export interface EdgeStream {
  readonly stream: LiveStream
  readonly site: CallSite
  readonly format: EventFormat
}

/** A call that a request began. */
export interface EdgeCall {
  /** The client is gone. */
  abandon(): void
}

/** Who answers the request: one of both, once; maybe before the call is at hand. Neither may throw. */
export interface EdgeReply {
  answer(answer: EdgeAnswer): void
  stream(stream: EdgeStream): void
}

/** Of every answer that nobody has added to: known by its identity. */
export const jsonHeaders: Readonly<Record<string, string>> = Object.freeze({ 'content-type': 'application/json' })

/** Bytes: an input is read whole before anybody looks at it. */
export const defaultMaxInputSize = 4 * 1024 * 1024

export const timeoutHeader = 'busbar-timeout'

/**
 * A typed service over HTTP, told by neither server nor runtime: an adapter reads the body and writes the answer. Schemas
 * are always asked here, of inputs and results: this is where others come in.
 */
export class HttpEdge {
  readonly #host: TypedHost
  readonly #paths: Paths
  readonly #options: EdgeOptions
  readonly #writers = new Map<HostedMethod, Write>()

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

  /** Undefined: it asks for no method. Throws METHOD_UNKNOWN for one that a plain class has not. */
  find(request: EdgeRequest): Directed | undefined {
    const { verb, url } = request
    const mark = url.indexOf('?')
    const found = this.#find(verb, mark < 0 ? url : url.slice(0, mark))
    if (found === undefined) return undefined
    return { request, found, query: mark < 0 ? '' : url.slice(mark + 1), hosted: this.#host.method(found.name) }
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
  begin(directed: Directed, body: string | undefined, reply: EdgeReply): EdgeCall | Promise<EdgeCall> {
    const { hosted, request, found } = directed
    const content = this.#content(hosted, request, body)
    if (found.mapping === undefined) return this.#call(directed, content, reply)
    const input = this.#fields(directed, found.mapping, content)
    return input instanceof Promise
      ? input.then((later) => this.#call(directed, later, reply))
      : this.#call(directed, input, reply)
  }

  #call({ hosted, request: { headers } }: Directed, input: unknown, reply: EdgeReply): EdgeCall {
    const call = hosted.open({
      metadata: headers as never,
      timeout: timeoutOf(headers),
      trace: traceOf(headers),
      hops: this.#options.hops?.(),
      mayAbort: true,
    })
    if (hosted.spec.kind === 'fn')
      hosted.tell(new Answering(hosted, call, this.#writerOf(hosted), reply), input, call, true)
    else {
      const stream = hosted.stream(input, call, true)
      reply.stream({ stream, format: formatFor(first(headers['accept'])), site: hosted.site })
    }
    return call
  }

  /** Decided once per method, by a look at its schema. */
  #writerOf(hosted: HostedMethod): Write {
    const known = this.#writers.get(hosted)
    if (known !== undefined) return known
    const write: Write = isUntagged(hosted.spec) ? JSON.stringify : (encodeJson as Write)
    this.#writers.set(hosted, write)
    return write
  }

  /**
   * The input of a mapped method: what stands in the path, over what stands in the query or in the body. A promise where its
   * schema is asynchronous.
   */
  #fields({ hosted, found, query }: Directed, mapping: HttpMapping, content: unknown): unknown {
    const inQuery = hasQuery(mapping)
    const fields = { ...(inQuery ? parseQuery(query) : (content as object | undefined)), ...found.parameters }
    const check = checkOf(hosted.spec.input)
    if (Object.keys(fields).length === 0) return withoutFields(check, content, inQuery)
    const textual = new Set(Object.keys(inQuery ? fields : found.parameters!))
    return check === undefined ? fields : readText(check, fields, textual)
  }

  #content(hosted: HostedMethod, { headers }: EdgeRequest, body: string | undefined): unknown {
    if (body === undefined || body === '') return undefined
    const type = first(headers['content-type'])
    if (type !== 'application/json' && (type === undefined || !jsonType.test(type)))
      throw refusal(
        'MEDIA_TYPE_UNSUPPORTED',
        `the input is ${type ?? 'of no type'}, and not application/json`,
        hosted.site.service,
      )
    try {
      return decodeJson(body)
    } catch (error) {
      if (error instanceof MalformedJson)
        throw refusal('REQUEST_MALFORMED', `the input is no JSON: ${error.message}`, hosted.site.service)
      throw fromUncarriable(hosted.site, error)
    }
  }

  #unknown({ verb, url }: EdgeRequest): BusbarError {
    const [path = ''] = url.split('?', 1)
    const nearest = this.#paths.nearest(path)
    return new BusbarError('METHOD_UNKNOWN', {
      message: `service ${this.#host.name} has no method at ${verb} ${path.slice(0, 128)}; the nearest are ${nearest.join(', ')}`,
      service: this.#host.name,
      data: { nearest },
    })
  }
}

const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

/** No query is what both an input without fields and none at all are sent as: which one it was, only the schema knows. */
function withoutFields(check: Check | undefined, content: unknown, inQuery: boolean): unknown {
  if (!inQuery || check === undefined) return content
  const inputOf = ({ issues }: Checked): unknown => (issues === undefined ? undefined : {})
  const result = check(undefined)
  return result instanceof Promise ? result.then(inputOf) : inputOf(result)
}

/** Makes an answer of what becomes of a call. */
class Answering implements Asker {
  readonly #hosted: HostedMethod
  readonly #call: LiveCall
  readonly #write: Write
  readonly #reply: EdgeReply

  constructor(hosted: HostedMethod, call: LiveCall, write: Write, reply: EdgeReply) {
    this.#hosted = hosted
    this.#call = call
    this.#write = write
    this.#reply = reply
  }

  answered(result: unknown): void {
    this.#reply.answer(this.#answerOf(result))
  }

  failed(error: BusbarError<string>): void {
    this.#reply.answer(failure(error, this.#call.headers))
  }

  #answerOf(result: unknown): EdgeAnswer {
    const { headers: more } = this.#call
    const { site, spec } = this.#hosted
    if (result === undefined) return withoutBody(spec.status, more)
    try {
      const body = encodeResult(result, site, this.#write)
      return {
        status: spec.status ?? 200,
        headers: more === undefined ? jsonHeaders : { ...more, ...jsonHeaders },
        body,
      }
    } catch (error) {
      return failure(error as BusbarError, more)
    }
  }
}

/** 204 must not say how long its body is, every other status must (RFC 9110, 8.6). */
function withoutBody(status: number | undefined, headers: Readonly<Record<string, string>> = {}): EdgeAnswer {
  if (status === undefined) return { status: 204, headers, body: undefined }
  return { status, headers: { ...headers, 'content-length': '0' }, body: undefined }
}

/** A result that no call carries is a fault of the service. */
function encodeResult(result: unknown, site: CallSite, write: Write): string {
  try {
    return write(result)
  } catch (error) {
    throw toCallError(error, site)
  }
}

/** A value of a stream that no call carries is a fault of the service, too. */
export function encodeValue({ format, site }: EdgeStream, value: unknown): string {
  return encodeResult(value, site, (one) => format.value(one))
}

export function failure(error: BusbarError<string>, more: Readonly<Record<string, string>> = {}): EdgeAnswer {
  const headers = { ...more, ...problemHeaders(error), 'content-type': problemType, 'cache-control': 'no-store' }
  return { status: error.status, headers, body: JSON.stringify(toProblem(error)) }
}

export function refusal(code: ErrorCode, message: string, service: string): BusbarError {
  return new BusbarError(code, { message, service })
}

function timeoutOf(headers: EdgeRequest['headers']): number | undefined {
  const timeout = Number(headers[timeoutHeader])
  return timeout >= 0 ? timeout : undefined
}

function traceOf(headers: EdgeRequest['headers']): Trace | undefined {
  const traceparent = first(headers['traceparent'])
  if (traceparent === undefined) return undefined
  const tracestate = first(headers['tracestate'])
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
