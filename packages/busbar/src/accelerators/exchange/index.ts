/**
 * Passes the head and body of a call between services as values, without socket, text and parser.
 * Clients (`fetch/`, `undici/`) describe the request. A virtual connection gives the callee a real
 * `IncomingMessage` and `ServerResponse`, in this thread or at the other end of a link. Relies on
 * the callbacks of Node's parser, on how a response builds its head, and on sockets over custom
 * handles.
 *
 * Gain: without it 0.28 of the requests per CPU second on Node 24, 0.29 on Node 26; without the
 * wrapped `request` of undici alone, 0.66 on both (`busbar bench accelerators`). Conditions:
 * docs/guides/scale/accelerators.md.
 */
import type { Exchanges, MeshContext } from '../../mesh/mesh-context.ts'
import { installFetch } from './fetch/install-fetch.ts'
import { tryOpenExchange } from './open-exchange.ts'
import { installUndiciRequest } from './undici/install-request.ts'
import { installDispatcher } from './undici/mesh-dispatcher.ts'

/** Loaded only where it runs: most workers know the result. */
export const probe = async (): Promise<unknown> => (await import('./probe.ts')).exchangeFault()

export const attachment: Exchanges = { open: tryOpenExchange, capture: captureClients }

/** Puts exchanges in front of the connections of `fetch` and undici. */
function captureClients(mesh: MeshContext): Disposable {
  const installed = new DisposableStack()
  installed.use(installFetch(mesh))
  installed.use(installDispatcher(mesh))
  installed.use(installUndiciRequest(mesh))
  return installed
}
