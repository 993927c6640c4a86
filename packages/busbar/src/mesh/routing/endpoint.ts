import { workerOf } from '../../shared/metrics/worker-pair.ts'
import type { Transport } from '../../shared/metrics/edge-table.ts'
import type { CommandConnections } from '../sockets/command-connections.ts'
import type { IncomingMessage, RequestListener, Server as HttpServer } from 'node:http'
import type { CallCounter, TypedHost } from '../../contract/host/typed-host.ts'
import type { HttpHandler } from '../../contract/http/http-handler.ts'
import type { CalledInThread } from '../meter.ts'
import type { Link } from '../links/link.ts'
import type { Scope } from '../scope.ts'
import type { PrivateListener } from '../sockets/instance/private-listener.ts'
import type { SlowStart } from '../../shared/slow-start.ts'
import type { VersionShare } from './balance/version-shares.ts'

/** An instance of a service, as the mesh sees it. Where it runs decides how a call gets there. */
export type Endpoint = LocalEndpoint | RemoteEndpoint | TcpEndpoint

/** `unhealthy`: its health checks fail. It gets no new calls while another instance serves them. */
export type EndpointState = 'serving' | 'unhealthy' | 'draining' | 'stopped'

/**
 * An instance in this thread: the HTTP server of an unmodified program, or a typed service.
 * Its host creates it and registers it with the router.
 */
export interface LocalEndpoint extends CalledInThread {
  readonly at: 'here'
  /**
   * The program's own server: `http.createServer()`, or a framework's. It listens on no address
   * that a caller could reach. `https` servers are called in plain text. Callers send it
   * connections (`sockets/`) or requests (`Exchanges`).
   */
  readonly server: HttpServer
  /** Calls a typed service without HTTP. */
  readonly typed?: TypedHost
  /** The request listener of a typed service's server, for requests from the gateway. */
  readonly requestListener?: RequestListener
  /** The same of a typed service, for requests that Node's server has not read. */
  readonly httpHandler?: HttpHandler
  /** Set while it listens on a private socket. */
  readonly listener?: PrivateListener | undefined
  /** Counts every request, whichever way it arrives. A typed service counts its calls itself. */
  readonly count?: CallCounter | undefined
  /** Called with each request that was answered: some frameworks leave their route in it. */
  readonly answered?: ((request: IncomingMessage) => void) | undefined
  readonly state: EndpointState
  /**
   * Runs `callback` in the program's own async context: a caller's AsyncLocalStorage stores must
   * never reach the callee. Takes 0.1 µs for the snapshot, 0.4 µs with a new scope.
   */
  enter<R>(scope: Scope, callback: () => R): R
}

/** An instance in another worker of this app, or behind an address of another app. */
export interface RemoteEndpoint {
  readonly at: 'link'
  readonly service: string
  /** The worker's number. */
  readonly worker: number
  /** That of its slot. Undefined if it belongs to another app. */
  readonly slot?: number | undefined
  /** The address, if it is another app's. */
  readonly host?: string | undefined
  /** Of the link. Default: between threads, or that of the address. */
  readonly transport?: Transport | undefined
  /** The position among the service's instances. */
  readonly index: number
  readonly state: EndpointState
  readonly link: Link
  /** The path of its private socket, if it has one. */
  readonly path?: string | undefined
  /** It implements a contract. Its HTTP interface is the same as a program's. */
  readonly typed: boolean
  /** What it subscribes to. */
  readonly topics?: readonly string[] | undefined
  /** As `queuedVersions`. Undefined: it does not say which it has. */
  readonly queued?: readonly string[] | undefined
  /** Its worker's row in shared memory, if this worker can read it. */
  readonly row?: number | undefined
  /** Its calls fail, though its link is fine. It gets none while another host can take them. */
  readonly isEjected?: boolean
  /** Its last report of calls in flight. Undefined if shared memory has the current number. */
  readonly load?: number | undefined
  /** Set if it has just started beside others. */
  readonly slowStart?: SlowStart | undefined
  /** Set if the service has a concurrency limit. */
  readonly admission?: Admission
  /** Set if the config divides the calls among versions of another app's service. */
  readonly share?: VersionShare | undefined
  /** Another app said that it has another contract of a method. */
  reject?(contract: string): void
  /** It said so a short while ago. */
  rejects?(contract: string): boolean
}

/** Admits calls to an instance with a concurrency limit. */
export interface Admission {
  /**
   * Returns if there is room, else resolves when there is. Throws or rejects with
   * RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED or the signal's reason. `deadline`: milliseconds from
   * now. `priority`: higher goes first; default 0.
   */
  enter(deadline: number | undefined, signal: AbortSignal | undefined, priority?: number): void | Promise<void>
  /**
   * Call it once per successful `enter`. `givenUp`: there was no answer, so the instance may still
   * be busy.
   */
  leave(givenUp?: boolean): void
}

/** A command or a test double. It speaks HTTP on a port of this machine. */
export interface TcpEndpoint {
  readonly at: 'tcp'
  readonly service: string
  /** The number of its slot. */
  readonly slot?: number | undefined
  /** The position among the service's instances. */
  readonly index: number
  readonly state: EndpointState
  readonly host: string
  readonly port: number
  /** It implements a contract. Typed calls go there over HTTP. */
  readonly typed: boolean
  /** Undefined: the instance is never drained. */
  readonly connections?: CommandConnections | undefined
  /** Set if it has just started beside others. */
  readonly slowStart?: SlowStart | undefined
}

/** The worker that answers, as an edge counts it. Undefined: this one. */
export function answererAt(endpoint: Endpoint): number | undefined {
  return endpoint.at === 'here' ? undefined : workerOf(endpoint.slot)
}

/** How a call gets to the instance. */
export function transportTo(endpoint: Endpoint): Transport {
  if (endpoint.at === 'here') return 'local'
  if (endpoint.at === 'tcp') return 'tcp'
  const { transport, host } = endpoint
  if (transport !== undefined) return transport
  if (host === undefined) return 'thread'
  if (host.startsWith('tls:')) return 'tls'
  // A member of the cluster has a name.
  return host.startsWith('tcp:') ? 'tcp' : 'nats'
}
