import type { ResponseHead } from '../../../mesh/http/exchange.ts'
import { toArrayBuffer, toBytes, toJson, toText, type Conversion } from '../clients/body-values.ts'
import type { FetchBody } from './response-body.ts'

/** Saved before programs start: frameworks replace these globals. */
const { Response, Headers } = globalThis
const { append } = Headers.prototype as unknown as { append: (this: object, name: string, value: string) => void }

/** TypeScript declares accessors and methods as properties, which cannot be overridden. */
const NativeResponse = Response as unknown as new (body: null, init: ResponseInit) => object
const NativeHeaders = Headers as unknown as new () => { append(name: string, value: string): void }

/** `body`: null for a response to HEAD, or with a null body status. */
export function createResponse(head: ResponseHead, url: string, body: FetchBody | null): globalThis.Response {
  return new MeshResponse(head, url, body) as unknown as globalThis.Response
}

/**
 * A real `Response` whose body and headers are created on demand. The base class has the status.
 * Reading the whole body needs no stream. Everything else is done by a native `Response` over the
 * body's stream, which replaces this one from then on.
 */
class MeshResponse extends NativeResponse {
  readonly #head: ResponseHead
  readonly #url: string
  readonly #body: FetchBody | null
  #headers: ImmutableHeaders | undefined
  #native: globalThis.Response | undefined

  constructor(head: ResponseHead, url: string, body: FetchBody | null, native?: globalThis.Response) {
    super(null, { status: head.status, statusText: head.statusText })
    this.#head = head
    this.#url = url
    this.#body = body
    this.#native = native
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
    return this.#native === undefined ? this.#body.taken : this.#native.bodyUsed
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

  /** The native response that replaces this one from now on. */
  #materialize(): globalThis.Response {
    if (this.#native !== undefined) return this.#native
    const { status, statusText } = this.#head
    const init = { status, statusText, headers: headerPairs(this.#head) }
    this.#native = new Response(this.#body === null ? null : this.#body.stream(), init)
    // A body that was read is closed, locked and disturbed.
    if (this.#body?.taken) void this.#native.body?.getReader().read()
    return this.#native
  }

  /** Undefined if the native response must read the body. */
  #read<T>(convert: Conversion<T>): Promise<T> | undefined {
    if (this.#body === null || this.#body.taken || this.#native !== undefined) return undefined
    return this.#body.consume(convert)
  }

  static {
    const inherited = Object.getOwnPropertyDescriptors(Response.prototype)
    const answered = new Set(Object.getOwnPropertyNames(MeshResponse.prototype))
    for (const [name, { value }] of Object.entries(inherited)) {
      if (answered.has(name) || typeof value !== 'function') continue
      // The other methods, in this Node and in later ones, such as `blob` and `formData`.
      Object.defineProperty(MeshResponse.prototype, name, {
        value(this: MeshResponse, ...args: unknown[]) {
          return Reflect.apply(value, this.#materialize(), args)
        },
        configurable: true,
        writable: true,
        enumerable: true,
      })
    }
    // Looks like the response of the built-in `fetch`.
    Object.defineProperty(MeshResponse.prototype, 'constructor', { value: Response })
    Object.defineProperty(MeshResponse, 'name', { value: 'Response' })
  }
}

/** The headers of a response are read-only ("immutable" in the fetch standard). */
class ImmutableHeaders extends NativeHeaders {
  /** Appending one by one costs half as much as a list of pairs. */
  constructor(head: ResponseHead) {
    super()
    for (const [name, value] of headerPairs(head)) append.call(this, name, value)
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
