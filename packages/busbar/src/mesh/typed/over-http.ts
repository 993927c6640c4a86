import type { CallOrigin } from '../../contract/call.ts'
import type { CallOptions } from '../../contract/calls.ts'
import type { Contract } from '../../contract/contract.ts'
import { httpTransport } from '../../contract/http/client.ts'
import type { Method } from '../../contract/method.ts'
import type { TcpEndpoint } from '../endpoint.ts'

/** A call of one method; of a stream its values. */
export type OverHttp = (input: unknown, origin: CallOrigin) => Promise<unknown> | AsyncIterable<unknown>

/** Programs may put their own in its place. */
const { fetch } = globalThis

/** Calls a method of a service that has a port of its own, by HTTP as a client from outside does. Nothing is repeated. */
export function callOverHttp(
  { host, port, service }: TcpEndpoint,
  contract: Contract,
  name: string,
  method: Method | undefined,
): OverHttp {
  const transport = httpTransport(`http://${host}:${port}`, { fetch, retries: 0, service })
  const bound = transport.bind(contract, name, method)
  return (input, origin) => bound(input, optionsOf(origin))
}

/** What a call inherits from the one that causes it ends it by a signal: the service is told when the connection ends. */
function optionsOf({ parent, timeout = Infinity, signal, metadata }: CallOrigin): CallOptions {
  const left = Math.min(timeout, parent?.timeLeft ?? Infinity)
  const signals = [signal, parent?.signal].filter((one) => one !== undefined)
  return {
    ...(left !== Infinity && { timeout: left }),
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    metadata: { ...parent?.trace, ...metadata },
  }
}
