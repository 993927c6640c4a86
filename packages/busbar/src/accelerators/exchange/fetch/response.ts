import type { ResponseHead } from '../../../mesh/http/exchange.ts'
import { toArrayBuffer, toBytes, toJson, toText, type Conversion, type FetchBody } from './body.ts'

/** As they were before any program: frameworks put classes of their own in the globals' place. */
const { Response, Headers } = globalThis

/** The declared class has properties where the real one has accessors and methods, which TypeScript lets nobody override. */
const PlainResponse = Response as unknown as new (body: null, init: ResponseInit) => object
const PlainHeaders = Headers as unknown as new () => { append(name: string, value: string): void }

/** `body` is null for an answer that has none: to HEAD, or with a null body status. */
export function createResponse(head: ResponseHead, url: string, body: FetchBody | null): globalThis.Response {
  return new MeshResponse(head, url, body) as unknown as globalThis.Response
}

/**
 * A real `Response` whose body and headers are made when somebody asks. The base class keeps status and text; reading
 * the body whole needs no stream. Everything else a body can do is done by a plain `Response` over its stream, which
 * then stands for this one.
 */
class MeshResponse extends PlainResponse {
  readonly #head: ResponseHead
  readonly #url: string
  readonly #body: FetchBody | null
  #headers: ImmutableHeaders | undefined
  #plain: globalThis.Response | undefined

  constructor(head: ResponseHead, url: string, body: FetchBody | null, plain?: globalThis.Response) {
    super(null, { status: head.status, statusText: head.statusText })
    this.#head = head
    this.#url = url
    this.#body = body
    this.#plain = plain
  }

  get url(): string {
    return this.#url
  }

  get type(): globalThis.Response['type'] {
    return 'basic'
  }

  get headers(): ImmutableHeaders {
    return (this.#headers ??= new ImmutableHeaders(this.#head))
  }

  get body(): globalThis.Response['body'] {
    return this.#body === null ? null : this.#materialize().body
  }

  get bodyUsed(): boolean {
    if (this.#body === null) return false
    return this.#plain === undefined ? this.#body.taken : this.#plain.bodyUsed
  }

  text(): Promise<string> {
    return this.#read(toText) ?? this.#materialize().text()
  }

  json(): Promise<unknown> {
    return this.#read(toJson) ?? this.#materialize().json()
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#read(toArrayBuffer) ?? this.#materialize().arrayBuffer()
  }

  bytes(): Promise<Uint8Array> {
    return this.#read(toBytes) ?? this.#materialize().bytes()
  }

  clone(): MeshResponse {
    const copy = this.#materialize().clone()
    return new MeshResponse(this.#head, this.#url, this.#body, copy)
  }

  /** The plain response that stands for this one from now on. */
  #materialize(): globalThis.Response {
    if (this.#plain !== undefined) return this.#plain
    const { status, statusText } = this.#head
    const init = { status, statusText, headers: headerPairs(this.#head) }
    this.#plain = new Response(this.#body === null ? null : this.#body.stream(), init)
    // What is left where a body was read whole: closed, locked and disturbed.
    if (this.#body?.taken) void this.#plain.body?.getReader().read()
    return this.#plain
  }

  /** Undefined where the plain response has to answer. */
  #read<T>(convert: Conversion<T>): Promise<T> | undefined {
    if (this.#body === null || this.#body.taken || this.#plain !== undefined) return undefined
    return this.#body.consume(convert)
  }

  static {
    const inherited = Object.getOwnPropertyDescriptors(Response.prototype)
    const answered = new Set(Object.getOwnPropertyNames(MeshResponse.prototype))
    for (const [name, { value }] of Object.entries(inherited)) {
      if (answered.has(name) || typeof value !== 'function') continue
      // The rest of what a body can do, in this Node and in later ones: `blob`, `formData`.
      Object.defineProperty(MeshResponse.prototype, name, {
        value(this: MeshResponse, ...args: unknown[]) {
          return Reflect.apply(value, this.#materialize(), args)
        },
        configurable: true,
        writable: true,
        enumerable: true,
      })
    }
    // To whoever asks it is what the built-in's `fetch` gives.
    Object.defineProperty(MeshResponse.prototype, 'constructor', { value: Response })
    Object.defineProperty(MeshResponse, 'name', { value: 'Response' })
  }
}

/** The headers of an answer can only be read, RFC fetch "immutable". */
class ImmutableHeaders extends PlainHeaders {
  /** One by one is half the price of a list of pairs. */
  constructor(head: ResponseHead) {
    super()
    for (const [name, value] of headerPairs(head)) super.append(name, value)
  }

  override append(): never {
    throw new TypeError('immutable')
  }

  set(): never {
    throw new TypeError('immutable')
  }

  delete(): never {
    throw new TypeError('immutable')
  }

  static {
    Object.defineProperty(ImmutableHeaders.prototype, 'constructor', { value: Headers })
    Object.defineProperty(ImmutableHeaders, 'name', { value: 'Headers' })
  }
}

function headerPairs({ headers }: ResponseHead): [string, string][] {
  const pairs: [string, string][] = []
  for (const name in headers) {
    const value = headers[name]!
    if (typeof value === 'string') pairs.push([name, value])
    else for (const one of value) pairs.push([name, one])
  }
  return pairs
}
