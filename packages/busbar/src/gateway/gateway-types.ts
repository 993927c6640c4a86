import type { Socket } from 'node:net'
import type { App } from '../config/app.ts'
import type { BusbarError } from '../contract/errors.ts'
import type { ConnectionSink } from '../mesh/sockets/instance/connection-sink.ts'
import type { MeshContext } from '../mesh/mesh-context.ts'
import type { RefusalCounts } from '../shared/metrics/refusals.ts'
import type { WorkerCells } from '../shared/metrics/worker-cells.ts'
import type { GrpcCarrier } from '../shared/entrance/grpc-carrier.ts'
import type { ServeRequest } from '../shared/entrance/http-carrier.ts'
import type { LogRecord, TlsMaterial } from '../shared/control-messages.ts'
import type { StopTimes, WebSocketClose } from '../shared/time/stop-times.ts'
import type { GrpcEntrance } from './grpc/grpc-entrance.ts'
import type { Handover } from './handover.ts'
import type { Probes } from './probes.ts'

/** From the mesh: what counts and measures requests, and what carries them. */
type MeshParts = Pick<MeshContext, 'router' | 'meter' | 'tracer' | 'exchanges' | 'streams'>

export interface GatewayParts extends MeshParts {
  readonly app: App
  /** Undefined serves plain HTTP. */
  readonly tls: TlsMaterial | undefined
  readonly log: (level: LogRecord['level'], line: string) => void
  /** Counters of requests in flight and closed connections. */
  readonly cells?: Pick<WorkerCells, 'addInFlight' | 'countClosed'>
  /** Counts the responses of the gateway itself. */
  readonly refusals?: Pick<RefusalCounts, 'count'> | undefined
  readonly handover?: Handover | undefined
  /** Undefined if the gateway answers no probes. */
  readonly probes?: Probes | undefined
  /** Undefined if the gateway serves no gRPC. */
  readonly grpc?: GrpcEntrance | undefined
}

/** The public entrance of the app in one worker. */
export interface Gateway {
  /** Accepts a connection that has not been read from. After {@link stop}, closes it at once. */
  accept(socket: Socket): void
  /** Accepts a connection of the native entrance, also after {@link stop}: its client is old. */
  acceptVirtual(socket: Socket): void
  /** Serves a gRPC call of the native entrance. Undefined if the gateway serves none. */
  readonly serveCall: ((carrier: GrpcCarrier) => void) | undefined
  /**
   * Is offered every other request of the native entrance before it gets a connection. Undefined if
   * the gateway serves none that way.
   */
  readonly serveRequest: ServeRequest | undefined
  /** Accepts connections in clear. Undefined if the app has no port for that. */
  readonly redirect: ConnectionSink | undefined
  /** Applies to later connections. */
  readonly setTls: (tls: TlsMaterial) => void
  /**
   * The worker is about to end. Responds with 502 to every request without a response, and
   * truncates the responses that have begun. `isLeft`: clients get none of that, because the native
   * entrance answers them, and counts that.
   */
  fail(error: BusbarError, isLeft?: boolean): void
  /** Half of the connections of HTTP/1 end with their next response, which says so. */
  shareConnections(): void
  /**
   * Drains: responds to requests in flight and to new ones with `connection: close`, closes idle
   * connections, and destroys the rest when the time is over. Closes WebSockets of services
   * elsewhere if `times` says so, and leaves all other upgraded connections to their programs.
   */
  stop(times: StopTimes): Promise<void>
  /** Those of services in other workers. Programs of this worker close their own. */
  closeWebSockets(close: WebSocketClose): Promise<void>
  /** Destroys every connection, upgraded ones included. */
  destroy(): void
  readonly connections: number
  readonly inFlight: number
}
