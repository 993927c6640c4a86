import { BusbarError } from '../../errors.ts'

/**
 * The parts of Node that gRPC needs. They are asked for, not imported, and have types of their own:
 * contracts run in browsers.
 */
export interface Http2Session {
  readonly destroyed: boolean
  /** It takes no new streams. */
  readonly closed: boolean
  request(headers: Readonly<Record<string, string>>, options: { readonly signal: AbortSignal }): Http2Stream
  ping(callback: () => void): boolean
  setLocalWindowSize(size: number): void
  ref(): void
  unref(): void
  destroy(error?: Error): void
  on(event: 'error', listener: (error: Error) => void): this
  once(event: 'remoteSettings' | 'goaway' | 'close', listener: () => void): this
}

export type Http2Headers = Readonly<Record<string, string | number | readonly string[] | undefined>>

export interface Http2Stream {
  readonly closed: boolean
  readonly writableEnded: boolean
  readonly rstCode?: number | undefined
  write(bytes: Uint8Array): boolean
  end(bytes?: Uint8Array): void
  pause(): void
  resume(): void
  on(event: 'error', listener: (error: Error) => void): this
  on(event: 'response' | 'trailers', listener: (headers: Http2Headers) => void): this
  on(event: 'data', listener: (chunk: Uint8Array) => void): this
  on(event: 'end' | 'close' | 'drain', listener: () => void): this
  once(event: 'close' | 'drain', listener: () => void): this
}

interface Http2Module {
  connect(authority: string, options: object): Http2Session
}

interface ZlibModule {
  gunzipSync(bytes: Uint8Array, options: { maxOutputLength: number }): Uint8Array
  inflateSync(bytes: Uint8Array, options: { maxOutputLength: number }): Uint8Array
}

interface MaybeNode {
  readonly process?: { getBuiltinModule?(name: string): unknown }
}

/** Throws OPERATION_UNSUPPORTED in browsers: they give a page no trailers of HTTP/2. */
export function http2Module(): Http2Module {
  const found = (globalThis as MaybeNode).process?.getBuiltinModule?.('node:http2')
  if (found !== undefined) return found as Http2Module
  throw new BusbarError('OPERATION_UNSUPPORTED', {
    message:
      'this runtime has no node:http2, so it cannot call grpc:// addresses: browsers give a page no trailers of HTTP/2',
    hint: "Call the service over HTTP: client(contract, 'https://…').",
  })
}

export function zlibModule(): ZlibModule {
  return (globalThis as MaybeNode).process!.getBuiltinModule!('node:zlib') as ZlibModule
}
