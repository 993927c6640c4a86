/** A public port, opened by the supervisor, or under `accept: 'reusePort'` by each worker. */
import { createServer } from 'node:net'
import type { ErrorRecord } from '../../contract/errors.ts'
import { openActivatedPort } from './activated-port.ts'
import type { ListenerSpec } from '../control-messages.ts'
import type { Port, PortHandlers } from './listener-spec.ts'

export type { Port, PortHandlers } from './listener-spec.ts'

export interface PortOptions {
  /** Other listeners share the port. */
  readonly reusePort: boolean
  /** Connections are paused: they will be sent to other threads and processes. */
  readonly paused: boolean
}

/** Rejects with Node's error; {@link portFailure} explains it. */
export async function openPort(spec: ListenerSpec, options: PortOptions, handlers: PortHandlers): Promise<Port> {
  const { reusePort, paused } = options
  if (spec.descriptor !== undefined) return await openActivatedPort(spec.descriptor, handlers)
  // As Node's HTTP servers do.
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
      // Its callback would wait until all connections have closed.
      server.close()
    },
  }
}

/** A limit: each turn accepts one pending connection, and more may arrive all the time. */
const mostTurns = 1000

/**
 * The kernel assigns connections to listeners before they are accepted, and resets those of a
 * listener that closes, even if others share the port (net.ipv4.tcp_migrate_req is off by default).
 * So the port closes after two turns of the event loop without a connection; the first may end
 * before it has polled.
 */
async function untilNoneWaits(accepted: () => number): Promise<void> {
  for (let turn = 0, quiet = 0; turn < mostTurns && quiet < 2; turn++) {
    const before = accepted()
    await new Promise((resolve) => setImmediate(resolve))
    quiet = accepted() === before ? quiet + 1 : 0
  }
}

/** Explains an error of {@link openPort}. */
export function portFailure(error: NodeJS.ErrnoException, spec: ListenerSpec): ErrorRecord {
  const key = configKey(spec)
  const where = `${spec.host}:${spec.port}`
  if (spec.descriptor !== undefined) return unusableSocket(error, spec.descriptor, key)
  switch (error.code) {
    case 'EADDRINUSE':
      return {
        code: 'PORT_IN_USE',
        message: `port ${spec.port} of ${spec.host} is in use already (${key})`,
        hint: `Stop what uses it, or set ${key} to another port (0 uses a free one).`,
      }
    case 'EACCES':
    case 'EPERM':
      return {
        code: 'PORT_FORBIDDEN',
        message: `this user is not permitted to listen on port ${spec.port} of ${spec.host} (${key})`,
        hint: `Set ${key} to a port of at least 1024, or permit Node to use lower ones (setcap cap_net_bind_service=+ep).`,
      }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        code: 'CONFIG_INVALID',
        message: `${spec.host} is not an address of this machine (${key.replace(/port$/, 'host')}): ${error.code}`,
        hint: /^\[.*\]$/.test(spec.host)
          ? `Write the IPv6 address ${spec.host.slice(1, -1)} without brackets.`
          : 'Use 127.0.0.1 for local connections only, or 0.0.0.0 for all IPv4 addresses of this machine.',
      }
    case 'ENOTSUP':
    case 'EOPNOTSUPP':
    case 'ENOPROTOOPT':
      return reusePortMissing()
    case 'EMFILE':
    case 'ENFILE':
      return {
        code: 'RESOURCE_EXHAUSTED',
        message: `too few file descriptors are left to listen on ${where} (${key})`,
        hint: 'Raise the limit: ulimit -n, or LimitNOFILE of a systemd unit. busbar doctor shows it.',
      }
    case undefined:
    default:
      return { code: 'INTERNAL', message: `cannot listen on ${where} (${key}): ${error.message}` }
  }
}

function unusableSocket({ message }: Error, descriptor: number, key: string): ErrorRecord {
  return {
    code: 'USAGE',
    message: `the socket that systemd passed as descriptor ${descriptor}, for ${key}, cannot be used: ${message}`,
    hint: 'The unit of the socket needs ListenStream= with an address and a port, and Accept=no.',
  }
}

function reusePortMissing(): ErrorRecord {
  return {
    code: 'PLACEMENT_UNSUPPORTED',
    message: `accept: 'reusePort' needs SO_REUSEPORT with balancing, which ${process.platform} does not have`,
    hint: "Remove `accept`, or set it to 'balanced'.",
  }
}

function configKey({ serves }: ListenerSpec): string {
  if (serves.kind === 'service') return `services.${serves.service}.expose`
  return { gateway: 'gateway.port', redirect: 'gateway.tls.redirect', export: 'export' }[serves.kind]
}
