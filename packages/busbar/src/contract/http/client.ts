import type { CallOptions } from '../calls.ts'
import { refusal } from '../call-options.ts'
import { isServiceName } from '../contract.ts'
import { BusbarError } from '../errors.ts'
import { framing } from '../header-syntax.ts'
import { fromUncarriable } from '../host/failures.ts'
import type { Method } from '../method.ts'
import type { Transport } from '../transport.ts'
import { timeoutHeader } from './content.ts'
import { linesType } from './events.ts'
import { Exchange, readAnswer, type Callee } from './exchange.ts'
import { decodeJson } from '../value/decode.ts'
import { acceptTagged } from './readers.ts'
import { requestOf, type Encode, type HttpRequest } from './request.ts'
import { retried, RetryBudget } from './retry.ts'
import { answeredStream } from './answered-stream.ts'

export interface HttpOptions {
  /** Instead of the global one. */
  readonly fetch?: typeof fetch
  /** How often an idempotent call is tried again, at most. Default: 2. */
  readonly retries?: number
  /** How many tries may be added to the calls of this client, as a share of them. Default: 0.1. */
  readonly retryBudget?: number
  /** Instead of JSON with its tags, for a service that speaks otherwise. Fields in a path or a query stay text. */
  readonly serialiser?: Serialiser
}

/** How inputs become the text of a body, and the text of results becomes values. What it throws is the call's failure. */
export interface Serialiser {
  encode(value: unknown): string
  decode(text: string): unknown
}

/** Calls a service over HTTP by `fetch`, in Node and in browsers. `base`: what stands before `/<service>/<method>`. */
export function httpTransport(base: string | URL, options: HttpOptions & { readonly service?: string }): Transport {
  const { fetch = (...args) => globalThis.fetch(...args), retries = 2, serialiser } = options
  const place = String(base).replace(/\/+$/, '')
  checkAddress(options.service)
  const budget = new RetryBudget(options.retryBudget)
  return {
    bind(contract, name, method) {
      const service = options.service ?? contract.name
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

/** It is a segment of the path. */
function checkAddress(service: string | undefined): void {
  if (service === undefined || isServiceName(service)) return
  throw new BusbarError('CONTRACT_INVALID', {
    message: `client() was given ${JSON.stringify(service)} as the name of a service`,
    hint: 'A name is a DNS label: small letters, digits and hyphens.',
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
    const exchange = this.#exchange(options)
    const attempt = async (): Promise<unknown> => {
      try {
        return await exchange.within(this.#ask(request, exchange, options))
      } catch (thrown) {
        throw exchange.failure(thrown)
      }
    }
    try {
      return await retried(attempt, { ...retry, signal: exchange.signal })
    } finally {
      exchange.settle()
    }
  }

  async #ask(request: HttpRequest, exchange: Exchange, options: CallOptions): Promise<unknown> {
    return await readAnswer(await this.#send(request, exchange, options, 'application/json'), this.#callee)
  }

  stream(input: unknown, options: CallOptions): AsyncIterableIterator<unknown> {
    return answeredStream(this.#callee, () => {
      const request = this.#request(input)
      const exchange = this.#exchange(options)
      return { exchange, response: this.#send(request, exchange, options, linesType) }
    })
  }

  /** A call's own limit, else the contract's, which the service would hold too, but not the network. */
  #exchange(options: CallOptions): Exchange {
    const { timeout = this.#method?.timeout } = options
    return new Exchange(this.#callee, { ...options, ...(timeout !== undefined && { timeout }) })
  }

  #request(input: unknown): HttpRequest {
    try {
      const { service, method } = this.#callee
      return requestOf(service, method, this.#method, input, this.#encode)
    } catch (error) {
      throw fromUncarriable(this.#callee, error)
    }
  }

  async #send(request: HttpRequest, exchange: Exchange, options: CallOptions, type: string): Promise<Response> {
    const { verb, path, body } = request
    const accept = this.#encode === undefined ? acceptTagged(type) : type
    const headers: Record<string, string> = { ...headersOf(this.#callee, options.metadata), accept }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (exchange.deadline !== Infinity) headers[timeoutHeader] = String(Math.ceil(exchange.timeLeft))
    const { connection: signal } = exchange
    return await this.#fetch(this.#base + path, { method: verb, headers, signal, ...(body !== undefined && { body }) })
  }
}

const own: ReadonlySet<string> = new Set([...framing, 'accept', 'content-type', 'expect', 'host', timeoutHeader])

/** In lower case: of two spellings of a name the later one counts, as everywhere else. */
function headersOf(callee: Callee, metadata: CallOptions['metadata'] = {}): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(metadata)) {
    const lower = name.toLowerCase()
    if (own.has(lower)) throw refusal(callee, ['metadata', name], 'over HTTP this header is for the client to set')
    headers[lower] = value
  }
  return headers
}
