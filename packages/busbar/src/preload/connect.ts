import { type LookupFunction, Socket, type TcpNetConnectOpts } from 'node:net'
import { TLSSocket } from 'node:tls'
import { watchLookup } from '../mesh/sockets/lookup.ts'
import { targetOf, type Target } from '../mesh/sockets/target.ts'
import { httpsRefused } from '../mesh/refusals.ts'
import { writePreamble } from '../mesh/relay/preamble.ts'
import type { Access } from './access.ts'
import { ask, type Connect } from './ask.ts'
import type { Hops } from './hops.ts'

const loopback = '127.0.0.1'

/**
 * Leads every connection to a service's name to the private port of the app, whichever client makes it: all end at
 * `net.Socket.prototype.connect`. Connections elsewhere pass untouched.
 */
export function captureConnections(access: Access, hops: Hops): void {
  const prototype = Socket.prototype as unknown as { connect: Connect }
  const original = prototype.connect
  prototype.connect = function connect(...args) {
    const target = targetOf(args)
    const service = target === undefined ? undefined : access.serviceOf(target.host)
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
    const options = optionsOf(target, access, (refused) => {
      ask(original, access.port, { ...call, verb: 'ask' }, refused)
    })
    original.call(this, options, ...(target.callback === undefined ? [] : [target.callback]))
    // Before all that the client writes: what is written while a socket connects waits in order.
    this.write(writePreamble({ ...call, verb: 'connect' }))
    return this
  }
}

/** The lookup is where a connection can still be refused with a reason, and where its address is decided. */
function optionsOf(
  { host, options }: Target,
  { port }: Access,
  asked: (answer: (refusal: NodeJS.ErrnoException | null) => void) => void,
): TcpNetConnectOpts {
  const lookup: LookupFunction = (_, { all }, callback) => {
    asked((refusal) => {
      if (refusal !== null) callback(refusal, '', 4)
      else if (all === true) callback(null, [{ address: loopback, family: 4 }])
      else callback(null, loopback, 4)
    })
  }
  // What is said of addresses is said of another one.
  const general = { ...options, localAddress: undefined, localPort: undefined, family: undefined, hints: undefined }
  return { ...general, host, port, lookup }
}
