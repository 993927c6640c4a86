import { type LookupFunction, Socket, type TcpNetConnectOpts } from 'node:net'
import { TLSSocket } from 'node:tls'
import { watchLookup } from '../mesh/routing/service-names.ts'
import { connectTargetOf, type ConnectTarget } from '../mesh/sockets/connect-target.ts'
import { httpsRefused } from '../mesh/routing/unreachable.ts'
import { writeForwardRequest } from '../shared/calls/forward-request.ts'
import type { AppAccess, HopCounter } from './app-access.ts'
import { checkConnection, type Connect } from './connection-check.ts'

const loopback = '127.0.0.1'

/**
 * Redirects every connection to a service's name to the app's private port. It replaces
 * `net.Socket.prototype.connect`, which all clients call. Other connections are not changed.
 */
export function redirectConnections(access: AppAccess, hops: HopCounter): void {
  const prototype = Socket.prototype as unknown as { connect: Connect }
  const original = prototype.connect
  prototype.connect = function connect(...args) {
    const target = connectTargetOf(args)
    const service = target === undefined ? undefined : serviceFor(access, target, this)
    if (target === undefined || service === undefined) {
      if (target !== undefined) watchLookup(access.names, target.host, this)
      return original.apply(this, args)
    }
    if (this instanceof TLSSocket) {
      process.nextTick(() => this.destroy(httpsRefused(service)))
      return this
    }
    const { token, caller } = access
    const call = { token, service, port: target.port, caller, hops: hops.current() }
    const options = connectOptions(target, access, (callback) => {
      checkConnection(original, access.port, { ...call, verb: 'ask' }, callback)
    })
    original.call(this, options, ...(target.callback === undefined ? [] : [target.callback]))
    // Precedes everything that the client writes: writes are queued in order while a socket
    // connects.
    this.write(writeForwardRequest({ ...call, verb: 'connect' }))
    return this
  }
}

/** A TLS connection to a port of this machine is not captured. */
function serviceFor(access: AppAccess, { host, port }: ConnectTarget, client: Socket): string | undefined {
  return client instanceof TLSSocket ? access.serviceOf(host) : access.serviceAt(host, port)
}

/** Replaces the lookup, which decides the address and can still fail with a reason. */
function connectOptions(
  { host, options }: ConnectTarget,
  { port }: AppAccess,
  check: (callback: (refusal: NodeJS.ErrnoException | null) => void) => void,
): TcpNetConnectOpts {
  const lookup: LookupFunction = (_, { all }, callback) => {
    check((refusal) => {
      if (refusal !== null) callback(refusal, '', 4)
      else if (all === true) callback(null, [{ address: loopback, family: 4 }])
      else callback(null, loopback, 4)
    })
  }
  // The client's options about addresses do not apply to the private port.
  const general = { ...options, localAddress: undefined, localPort: undefined, family: undefined, hints: undefined }
  return { ...general, host, port, lookup }
}
