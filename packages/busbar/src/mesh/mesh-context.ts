/**
 * What every entry into the mesh needs, and the two interfaces by which accelerators attach to it.
 */
import type { Socket, SocketConstructorOpts } from 'node:net'
import type { Exchange, ExchangeHandler, ExchangeRequest } from './http/exchange.ts'
import type { CallHandler } from './links/link.ts'
import type { Meter } from './meter.ts'
import type { Endpoint } from './routing/endpoint.ts'
import type { ConcurrencyGate } from './routing/limits/concurrency-gate.ts'
import type { Router } from './routing/router.ts'
import type { Scope } from './scope.ts'
import type { Tracer } from './tracing/tracer.ts'

export interface MeshContext {
  readonly router: Router
  /** The longest chain of calls that cause each other. The call beyond it is answered with 508. */
  readonly maxHops: number
  /** Counts and measures calls. Undefined: nothing does. */
  readonly meter?: Meter | undefined
  /** Undefined if the app has no traces. */
  readonly tracer?: Tracer | undefined
  /** The gates of this thread's services that have a concurrency limit, by service. */
  readonly gates?: ReadonlyMap<string, ConcurrencyGate> | undefined
  /** Undefined: every request is sent as text on a connection. */
  readonly exchanges?: Exchanges | undefined
  /** Undefined: every connection is a system socket. */
  readonly streams?: Streams | undefined
}

/** Sends requests as values instead of HTTP text. */
export interface Exchanges {
  /**
   * Sends `request` to the endpoint's program as if on a connection of its own. The program runs
   * later, in the context of `endpoint.enter(scope, …)`. `handler` is called in the caller's async
   * context. The body is copied before this returns.
   *
   * Returns undefined, and sends nothing, for requests that only a connection handles exactly:
   * invalid ones (the client reports those itself), upgrades, CONNECT, methods the parser does not
   * know, contradictory or wrong lengths, headers above the server's limit, and header values with
   * anything but printable ASCII.
   *
   * `elsewhere` finds another instance when the first one turns out to be gone.
   */
  open(
    endpoint: Endpoint,
    request: ExchangeRequest,
    scope: Scope,
    handler: ExchangeHandler,
    elsewhere?: (not: Endpoint) => Endpoint | undefined,
  ): Exchange | undefined
  /** Captures the calls of those clients in this thread that need no connection. */
  capture(mesh: MeshContext): Disposable
}

/** Opens connections that are not system sockets. */
export interface Streams {
  /**
   * Returns a socket that is connecting to an instance, like `net.connect()`. Each side's events
   * run in that side's async context. Bytes, ends and resets behave as with TCP.
   */
  open(
    mesh: MeshContext,
    service: string,
    port: number,
    options: SocketConstructorOpts,
    origin: ConnectionOrigin,
  ): Socket
  /** Accepts the connections that arrive over links. */
  answer(mesh: MeshContext): CallHandler
}

/** The caller that opens a connection. */
export interface ConnectionOrigin {
  /** The calling service. Undefined for requests from outside. */
  readonly caller: string | undefined
  /** Its worker, as an edge counts it, if that is not this one. */
  readonly worker?: number | undefined
  /** The position of the next call in its chain of calls, starting at 1. */
  readonly hops: number
  /** The instance, if it has been chosen already. */
  readonly to?: Endpoint | undefined
  /** Called with the instance to which the connection goes. */
  readonly found?: ((endpoint: Endpoint) => void) | undefined
}
