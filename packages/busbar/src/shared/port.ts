/** A public port, opened by the supervisor or under `accept: 'reusePort'` by each worker. */
import { createServer, type Socket } from 'node:net'
import type { ErrorRecord } from '../contract/errors.ts'
import type { ListenerSpec } from './control.ts'

export interface Port {
  readonly port: number
  /** Stops accepting; resolves when the port is free. Connections that were accepted live on. */
  close(): Promise<void>
}

export interface PortHandlers {
  /** Gets each accepted connection. */
  connection(socket: Socket): void
  /** A connection could not be accepted (too many open files, mostly); the port stays open. */
  error(error: NodeJS.ErrnoException): void
}

export interface PortOptions {
  /** Others listen there too. */
  readonly reusePort: boolean
  /** Nothing is read from connections: they are to be sent to other threads and processes. */
  readonly paused: boolean
}

/** Rejects with Node's own error; {@link portFailure} explains it. */
export async function openPort(spec: ListenerSpec, options: PortOptions, handlers: PortHandlers): Promise<Port> {
  const { reusePort, paused } = options
  // As servers of HTTP have their connections.
  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: paused })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('listening', resolve).once('error', reject)
  let accepted = 0
  server.on('connection', (socket) => {
    accepted++
    handlers.connection(socket)
  })
  server.listen({ host: spec.host, port: spec.port, ...(reusePort && { reusePort }) })
  await promise
  server.off('error', reject).on('error', (error) => handlers.error(error))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : spec.port,
    async close() {
      if (reusePort) await untilNoneWaits(() => accepted)
      // Its callback would wait for the connections.
      server.close()
    },
  }
}

/** As a limit: each takes one connection of those that wait, and more may come all the time. */
const mostTurns = 1000

/**
 * The kernel has shared out connections before anybody accepts them, and resets those of a listener that closes, although
 * others of the same port are there (net.ipv4.tcp_migrate_req is off by default). So it closes right after the loop has
 * looked and found none: in the second turn that brought none, since the first may be over before it looks.
 */
async function untilNoneWaits(accepted: () => number): Promise<void> {
  for (let turn = 0, quiet = 0; turn < mostTurns && quiet < 2; turn++) {
    const before = accepted()
    await new Promise((resolve) => setImmediate(resolve))
    quiet = accepted() === before ? quiet + 1 : 0
  }
}

/** What a failed {@link openPort} means and what to do about it. */
export function portFailure(error: NodeJS.ErrnoException, spec: ListenerSpec): ErrorRecord {
  const key = configKey(spec)
  const where = `${spec.host}:${spec.port}`
  switch (error.code) {
    case 'EADDRINUSE':
      return {
        code: 'PORT_IN_USE',
        message: `port ${spec.port} of ${spec.host} is in use by another process (${key})`,
        hint: `stop that process, or set ${key} to another port (0 takes a free one)`,
      }
    case 'EACCES':
    case 'EPERM':
      return {
        code: 'PORT_FORBIDDEN',
        message: `this user may not listen on port ${spec.port} of ${spec.host} (${key})`,
        hint: `set ${key} to a port from 1024 up, or allow Node the low ones (setcap cap_net_bind_service=+ep)`,
      }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        code: 'CONFIG_INVALID',
        message: `${spec.host} is no address of this machine (${key.replace(/port$/, 'host')}): ${error.code}`,
        hint: 'use 127.0.0.1 for this machine only, 0.0.0.0 for all of its IPv4 addresses',
      }
    case 'ENOTSUP':
    case 'EOPNOTSUPP':
    case 'ENOPROTOOPT':
      return reusePortMissing()
    case undefined:
    default:
      return { code: 'INTERNAL', message: `cannot listen on ${where} (${key}): ${error.message}` }
  }
}

function reusePortMissing(): ErrorRecord {
  return {
    code: 'PLACEMENT_UNSUPPORTED',
    message: `accept: 'reusePort' needs SO_REUSEPORT with balancing, which ${process.platform} does not have`,
    hint: "leave `accept` away, or set it to 'balanced'",
  }
}

function configKey({ serves }: ListenerSpec): string {
  return serves.kind === 'gateway' ? 'gateway.port' : `services.${serves.service}.expose`
}
