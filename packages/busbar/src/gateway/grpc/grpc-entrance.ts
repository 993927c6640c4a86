import type { Socket } from 'node:net'
import type { BusbarError } from '../../contract/errors.ts'
import type { ConnectionSink } from '../../mesh/sockets/instance/connection-sink.ts'
import type { StopTimes } from '../../shared/time/stop-times.ts'
import type { GrpcCarrier } from '../../shared/entrance/grpc-carrier.ts'
import type { Connections } from '../connections.ts'
import { GrpcServer, type GrpcParts } from './grpc-server.ts'
import { ProtocolSniffer } from './protocol-sniffer.ts'

/** gRPC at the gateway's ports: over TLS, and in clear with prior knowledge. */
export class GrpcEntrance {
  readonly #server: GrpcServer
  readonly #sniffer: ProtocolSniffer

  constructor(parts: GrpcParts) {
    this.#server = new GrpcServer(parts)
    this.#sniffer = new ProtocolSniffer(parts.app.limits.headerTimeout)
  }

  get inFlight(): number {
    return this.#server.inFlight
  }

  /** Takes connections in clear. Those that are not of HTTP/2 go to `http1`. */
  inClear(connections: Connections, http1: ConnectionSink): ConnectionSink {
    const http2 = (socket: Socket): void => {
      connections.addSocket(socket, false)
      this.#server.accept(socket)
    }
    return { accept: (socket) => this.#sniffer.accept(socket, { http1: (known) => http1.accept(known), http2 }) }
  }

  /** A connection over TLS whose client has chosen HTTP/2. */
  acceptSecure(connections: Connections, socket: Socket): void {
    connections.addHttp2(socket)
    this.#server.accept(socket)
  }

  /** Calls of the native entrance. `needsTls`: the port in clear only redirects. */
  servesCalls(needsTls: boolean): (carrier: GrpcCarrier) => void {
    return (carrier) => {
      if (!needsTls || carrier.peer.encrypted === true) this.#server.serve(carrier)
      else carrier.refuse(403, 'This port redirects to HTTPS.\n')
    }
  }

  /** The worker is about to end. */
  fail(error: BusbarError): void {
    this.#server.fail(error)
  }

  async stop(times: StopTimes): Promise<void> {
    const unused = setTimeout(() => this.#sniffer.destroy(), Math.min(times.quiet, times.timeout / 2))
    await this.#server.stop(times)
    clearTimeout(unused)
    this.#sniffer.destroy()
  }

  destroy(): void {
    this.#sniffer.destroy()
    this.#server.destroy()
  }
}
