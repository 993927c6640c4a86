import type { CallOrigin } from '../../contract/call/live-call.ts'
import type { CallOptions } from '../../contract/call/call-types.ts'
import { fieldsOf } from '../../contract/context.ts'
import type { Contract } from '../../contract/contract.ts'
import { httpTransport } from '../../contract/client/http/http-transport.ts'
import type { Method } from '../../contract/method.ts'
import type { TcpEndpoint } from '../routing/endpoint.ts'

/** Calls one method. Returns a promise of the result, or the values of a stream. */
export type HttpMethodCall = (input: unknown, origin: CallOrigin) => Promise<unknown> | AsyncIterable<unknown>

/** Kept, because programs may replace the global. */
const { fetch } = globalThis

/**
 * Calls a method of a service with its own port over HTTP, as a client from outside does. Never
 * retries.
 */
export function callOverHttp(
  { host, port, service }: TcpEndpoint,
  contract: Contract,
  name: string,
  method: Method | undefined,
): HttpMethodCall {
  const transport = httpTransport(`http://${host}:${port}`, { fetch, retries: 0, service })
  const bound = transport.bind(contract, name, method)
  return (input, origin) => bound(input, optionsOf(origin))
}

/** Limits inherited from the causing call end this one by a signal, which closes the connection. */
function optionsOf({ parent, timeout = Infinity, signal, metadata, trace = parent?.cause }: CallOrigin): CallOptions {
  const left = Math.min(timeout, parent?.timeLeft ?? Infinity)
  const signals = [signal, parent?.signal].filter((one) => one !== undefined)
  return {
    ...(left !== Infinity && { timeout: left }),
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    metadata: { ...(trace && fieldsOf(trace)), ...metadata },
  }
}
