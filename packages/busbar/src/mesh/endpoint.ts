import type { RequestListener, Server as HttpServer } from 'node:http'
import type { CallCount, TypedHost } from '../contract/host/host.ts'
import type { Link } from './links/link.ts'
import type { PrivateListener } from './sockets/private-listener.ts'
import type { Scope } from './scope.ts'

/** A service's instance as the mesh sees it: where it is, and so how a call gets there. */
export type Endpoint = LocalEndpoint | RemoteEndpoint | TcpEndpoint

export type EndpointState = 'serving' | 'draining' | 'stopped'

/**
 * An instance in this thread: the HTTP server of an unmodified program, or a typed service.
 * Made by the host, registered with the {@link Router}, called by the transports.
 */
export interface LocalEndpoint {
  readonly at: 'here'
  readonly service: string
  /**
   * The program's own server, `http.createServer()` or a framework's, which listens on nothing that a caller could
   * reach; `https` servers are called in plain text. The byte stream gives it connections (`bytes/accept.ts`), the
   * exchange requests.
   */
  readonly server: HttpServer
  /** Of a typed service: how it is called without HTTP. */
  readonly typed?: TypedHost
  /** Of a typed service: what its server does with a request, for the gateway's own ones. */
  readonly answers?: RequestListener
  /** Where it listens on a private socket. */
  readonly listener?: PrivateListener | undefined
  /** Told of every request, whichever way it comes. A typed service counts its calls itself. */
  readonly count?: CallCount | undefined
  readonly state: EndpointState
  /**
   * Runs `callback` as the program itself would, with nothing of the caller's async context left (a caller's
   * AsyncLocalStorage stores must never reach the callee). 0.1 µs for the snapshot, 0.4 with a scope of its own.
   */
  enter<R>(scope: Scope, callback: () => R): R
}

/** An instance in another worker of this app. */
export interface RemoteEndpoint {
  readonly at: 'link'
  readonly service: string
  /** The worker's number. */
  readonly worker: number
  /** Which of the service's instances it is. */
  readonly index: number
  readonly state: EndpointState
  readonly link: Link
  /** Of its private socket, where it has one. */
  readonly path?: string | undefined
  /** It implements a contract. Over HTTP it answers like any other. */
  readonly typed: boolean
  /** Its worker's row in the shared memory, where this one sees that. */
  readonly row?: number | undefined
  /** Calls that it had in flight when it last said so; undefined where that can be read in its row at any moment. */
  readonly load?: number | undefined
  /** Of a service with a limit to what it does at a time. */
  readonly admission?: Admission
}

/** Asked before a call is opened on an instance, and told when that call is over. */
export interface Admission {
  /**
   * At once when there is room, else when there is; throws or rejects with RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED or the
   * signal's reason. `deadline`: in milliseconds from now; `priority`: the higher, the sooner, 0 without it.
   */
  enter(deadline: number | undefined, signal: AbortSignal | undefined, priority?: number): void | Promise<void>
  /** Once for each `enter` that succeeded. `givenUp`: without an answer, so that the instance may be busy with it still. */
  leave(givenUp?: boolean): void
}

/** A command or a test double: it listens on a port of this machine, and speaks HTTP for itself. */
export interface TcpEndpoint {
  readonly at: 'tcp'
  readonly service: string
  /** Which of the service's instances it is. */
  readonly index: number
  readonly state: EndpointState
  readonly host: string
  readonly port: number
  /** It implements a contract: typed calls go there over HTTP. */
  readonly typed: boolean
}
