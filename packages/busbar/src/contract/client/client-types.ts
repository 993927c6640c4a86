// Browser code is often compiled with a `lib` without `AsyncDisposable`, where an unknown name
// would make the type `any`.
/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions } from '../call/call-types.ts'
import type { Log } from '../context.ts'
import type { Contract, implementationBrand } from '../contract.ts'
import type { Call, Method, Methods, Queued, TypesOf } from '../method.ts'
import type { PlainClient, PlainContract } from '../plain-contract.ts'
import type { Enqueue } from '../queues/enqueue.ts'
import type { GrpcOptions } from './grpc/grpc-options.ts'
import type { HttpOptions } from './http/http-transport.ts'
import type { CallTransport } from './transport.ts'

/**
 * The methods of a service as functions. It is not a thenable: `await client(x)` is the client
 * itself.
 */
export type Client<M extends Methods> = {
  readonly [Name in keyof M]: Call<M[Name]['kind'], TypesOf<M[Name]>> & Enqueueing<M[Name]>
} & AsyncDisposable

/** What a client's method has besides the call. */
type Enqueueing<M extends Method> = M extends Queued
  ? {
      /** Puts a call into the app's queue, which runs it at least once. */
      readonly enqueue: Enqueue<TypesOf<M>>
    }
  : unknown

export interface ClientOptions extends HttpOptions, GrpcOptions, LocalOptions {
  /**
   * Timeout in milliseconds for calls that set none. Default: only the deadline of the call that
   * makes them.
   */
  readonly timeout?: number
  /** Metadata of every call; a call's own entries take precedence. */
  readonly metadata?: CallOptions['metadata']
  /** The service's name in the config, if it differs from the contract's. */
  readonly service?: string
  /** Interceptors around every call; the first is the outermost. */
  readonly use?: readonly ClientInterceptor[]
}

export interface LocalOptions {
  /**
   * Copies arguments and results as a network would. Default: true unless `NODE_ENV` is
   * `production`.
   */
  readonly clone?: boolean
  /** `edge`: validates only calls from outside, not those within the thread. Default: `always`. */
  readonly validate?: 'always' | 'edge'
  /** Default: the console. */
  readonly log?: Log
}

export interface OutgoingCall {
  readonly service: string
  readonly method: string
  readonly input: unknown
  readonly options: CallOptions
}

/**
 * `next` makes the call, with other options if given. It resolves to the result; for a stream, to
 * an async iterable of its values. A stream's interceptors run when it is first read.
 */
export type ClientInterceptor = (
  call: OutgoingCall,
  next: (options?: CallOptions) => Promise<unknown>,
) => Promise<unknown>

/**
 * The part of an implementation that these types need. The whole type would make a cycle, since an
 * implementation gets a {@link ClientFunction}.
 */
interface LocalTarget {
  readonly [implementationBrand]: true
  readonly contract: Contract
}

/**
 * Where the service is: a URL, its implementation (with those that it calls), a transport, or
 * undefined inside an app.
 */
export type Target = string | URL | LocalTarget | readonly LocalTarget[] | CallTransport

export interface ClientFunction {
  /**
   * For a service of a plain class: the client's methods take the arguments of the class's methods.
   */
  <T extends object>(
    contract: PlainContract<T>,
    target?: Target,
    options?: ClientOptions,
  ): PlainClient<T> & AsyncDisposable
  /**
   * - `client(contract)`: inside an app, through the mesh
   * - `client(contract, 'https://shop.example/api')`: over HTTP, from anywhere
   * - `client(contract, 'grpc://shop.example:50051')`: over gRPC, from Node; `grpcs://` for TLS
   * - `client(contract, implementation)`: in the same thread, for tests and browsers
   *
   * Methods reject with a BusbarError. Disposing the client stops what it has started.
   */
  <M extends Methods>(contract: Contract<M>, target?: Target, options?: ClientOptions): Client<M>
}
