import type { Socket } from 'node:net'
import type { LocalEndpoint } from '../mesh/routing/endpoint.ts'
import type { ServiceReport } from '../shared/control-messages.ts'
import type { StopTimes } from '../shared/time/stop-times.ts'
import type { ConnectionSink } from '../mesh/sockets/instance/connection-sink.ts'
import type { QueueHost } from '../queue/queue-host.ts'

/** A program or typed service that runs in this thread. */
export interface HostedService extends LocalEndpoint, ConnectionSink {
  readonly report: ServiceReport
  /** Set for the service that owns the app's queue. */
  readonly queue?: QueueHost | undefined
  /** Passes a connection to the service's own server. An `https` server does the TLS handshake. */
  accept(socket: Socket): void
  /**
   * Returns what accepts the connections of a public port: the server that listens on this very
   * port if the service has one, otherwise the service itself.
   */
  sinkFor(port: number): ConnectionSink
  /**
   * Half of the connections that clients keep open end with their next response, which says so.
   * Undefined if its clients are those of the gateway.
   */
  shareConnections?(): void
  /**
   * Drains keep-alive connections, runs the program's own SIGTERM handlers (or SIGINT handlers if
   * it has no others), then closes its servers. Requests in flight are answered; connections that
   * remain after `timeout` are destroyed. Never rejects.
   */
  stop(times: StopTimes): Promise<void>
}
