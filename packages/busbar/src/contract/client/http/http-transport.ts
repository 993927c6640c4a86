import type { CallOptions } from '../../call/call-types.ts'
import { refusal } from '../../call/call-options.ts'
import { isServiceName } from '../../contract.ts'
import { BusbarError } from '../../errors.ts'
import { framing } from '../../header-syntax.ts'
import { toInputInvalid } from '../../host/failures.ts'
import type { Method } from '../../method.ts'
import type { CallTransport } from '../transport.ts'
import { timeoutHeader } from '../../http/request-content.ts'
import { ndjsonType } from '../../http/stream-format.ts'
import { HttpCall, readAnswer, type Callee } from './http-call.ts'
import { decodeJson } from '../../value/decode.ts'
import { taggedAccept } from '../../http/accept.ts'
import { buildRequest, type Encode, type HttpRequest } from './build-request.ts'
import { withRetries, RetryBudget } from './retry.ts'
import { httpStream } from './http-stream.ts'
import { unsupported } from './unsupported.ts'

export interface HttpOptions {
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch
  /** Maximum number of retries of an idempotent call. Default: 2. */
  readonly retries?: number
  /** Maximum share of retries among the calls of this client. Default: 0.1. */
  readonly retryBudget?: number
  /**
   * Replaces JSON with tags, for a service with another format. Fields in a path or a query stay
   * text.
   */
  readonly serialiser?: Serialiser
}

/**
 * Converts inputs to the text of a body, and the text of results to values. What it throws is the
 * call's error.
 */
export interface Serialiser {
  encode(value: unknown): string
  decode(text: string): unknown
}

/**
 * Calls a service over HTTP by `fetch`, in Node and in browsers. `base` is the URL before
 * `/<service>/<method>`.
 */
export function httpTransport(base: string | URL, options: HttpOptions & { readonly service?: string }): CallTransport {
  const { fetch = (...args) => globalThis.fetch(...args), retries = 2, serialiser } = options
  const place = String(base).replace(/\/+$/, '')
  checkAddress(options.service)
  const budget = new RetryBudget(options.retryBudget)
  return {
    bind(contract, name, method) {
      const service = options.service ?? contract.name
      if (method?.takesMany === true) return unsupported(service, name, method)
      const callee: Callee = { service, method: name, errors: method?.errors ?? {}, decode: decoderOf(serialiser) }
      const encode = serialiser === undefined ? undefined : (value: unknown) => serialiser.encode(value)
      const remote = new RemoteMethod({ fetch, base: place, callee, method, encode })
      if (method?.kind === 'stream') return (input, options) => remote.stream(input, options ?? {})
      const times = method?.idempotent === true ? retries : 0
      return (input, options) => remote.call(input, options ?? {}, { times, budget })
    },
    close: async () => {},
  }
}

/** The name is a segment of the path. */
function checkAddress(service: string | undefined): void {
  if (service === undefined || isServiceName(service)) return
  throw new BusbarError('CONTRACT_INVALID', {
    message: `${JSON.stringify(service)} in the options of client() is not a valid service name`,
    hint: 'A name is a DNS label: lower-case letters, digits and hyphens.',
  })
}

function decoderOf(serialiser: Serialiser | undefined): Callee['decode'] {
  return serialiser === undefined ? decodeJson : (text) => serialiser.decode(text)
}

interface RemoteParts {
  readonly fetch: typeof fetch
  readonly base: string
  readonly callee: Callee
  readonly method: Method | undefined
  readonly encode: Encode | undefined
}

class RemoteMethod {
  readonly #fetch: typeof fetch
  readonly #base: string
  readonly #callee: Callee
  readonly #method: Method | undefined
  readonly #encode: Encode | undefined

  constructor({ fetch, base, callee, method, encode }: RemoteParts) {
    this.#fetch = fetch
    this.#base = base
    this.#callee = callee
    this.#method = method
    this.#encode = encode
  }

  async call(input: unknown, options: CallOptions, retry: { times: number; budget: RetryBudget }): Promise<unknown> {
    const request = this.#request(input)
    const httpCall = this.#httpCall(options)
    const attempt = async (): Promise<unknown> => {
      try {
        return await httpCall.within(this.#ask(request, httpCall, options))
      } catch (thrown) {
        throw httpCall.failure(thrown)
      }
    }
    try {
      return await withRetries(attempt, { ...retry, signal: httpCall.signal })
    } finally {
      httpCall.settle()
    }
  }

  async #ask(request: HttpRequest, httpCall: HttpCall, options: CallOptions): Promise<unknown> {
    return await readAnswer(await this.#send(request, httpCall, options, 'application/json'), this.#callee)
  }

  stream(input: unknown, options: CallOptions): AsyncIterableIterator<unknown> {
    return httpStream(this.#callee, () => {
      const request = this.#request(input)
      const httpCall = this.#httpCall(options)
      return { call: httpCall, response: this.#send(request, httpCall, options, ndjsonType) }
    })
  }

  /**
   * The call's own timeout, else the contract's: the service enforces that too, but the network
   * does not.
   */
  #httpCall(options: CallOptions): HttpCall {
    const { timeout = this.#method?.timeout } = options
    return new HttpCall(this.#callee, { ...options, ...(timeout !== undefined && { timeout }) })
  }

  #request(input: unknown): HttpRequest {
    try {
      const { service, method } = this.#callee
      return buildRequest(service, method, this.#method, input, this.#encode)
    } catch (error) {
      throw toInputInvalid(this.#callee, error)
    }
  }

  async #send(request: HttpRequest, httpCall: HttpCall, options: CallOptions, type: string): Promise<Response> {
    const { verb, path, body } = request
    const accept = this.#encode === undefined ? taggedAccept(type) : type
    const headers: Record<string, string> = { ...headersOf(this.#callee, options.metadata), accept }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (httpCall.deadline !== Infinity) headers[timeoutHeader] = String(Math.ceil(httpCall.timeLeft))
    const { connection: signal } = httpCall
    return await this.#fetch(this.#base + path, { method: verb, headers, signal, ...(body !== undefined && { body }) })
  }
}

const own: ReadonlySet<string> = new Set([...framing, 'accept', 'content-type', 'expect', 'host', timeoutHeader])

/** In lower case; if a name occurs in two spellings, the last one wins. */
function headersOf(callee: Callee, metadata: CallOptions['metadata'] = {}): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(metadata)) {
    const lower = name.toLowerCase()
    if (own.has(lower)) throw refusal(callee, ['metadata', name], 'over HTTP the client sets this header itself')
    headers[lower] = value
  }
  return headers
}
