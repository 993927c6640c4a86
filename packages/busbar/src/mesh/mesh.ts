import type { Gate } from './balance/gate.ts'
import type { Exchanges } from './http/exchange.ts'
import type { Meter } from './meter.ts'
import type { Router } from './router.ts'
import { announceHops } from './sockets/announce-hops.ts'
import { captureConnections } from './sockets/capture.ts'
import { servePrivateSockets } from './sockets/served-instance.ts'
import type { Streams } from './streams.ts'

/** What every way into the mesh needs: who is called by which name, and how long a chain of calls may be. */
export interface HttpMesh {
  readonly router: Router
  /** The call that would make more than this in one chain answers 508. */
  readonly maxHops: number
  /** How long calls take is written down by it; undefined where nobody asks. */
  readonly meter?: Meter | undefined
  /** Before the services of this thread that answer only so many calls at a time. */
  readonly gates?: ReadonlyMap<string, Gate> | undefined
  /** Undefined where all calls are text on a connection. */
  readonly exchanges?: Exchanges | undefined
  /** Undefined where all connections are sockets of the system's. */
  readonly streams?: Streams | undefined
}

export interface Mesh extends HttpMesh, AsyncDisposable {}

/**
 * Makes this thread's clients reach the app's services by name: `http://catalog.internal/`. Disposing gives every
 * client back to the network.
 *
 * Connections serve every client and are always there; what makes exchanges stands in front of them for some.
 */
export async function startMesh(options: HttpMesh): Promise<Mesh> {
  const { router, maxHops, meter, gates, exchanges, streams } = options
  const mesh: HttpMesh = { router, maxHops, meter, gates, exchanges, streams }
  const installed = new DisposableStack()
  installed.use(captureConnections(mesh))
  installed.use(announceHops(mesh.router))
  installed.use(servePrivateSockets(mesh))
  if (exchanges !== undefined) installed.use(exchanges.capture(mesh))
  return { ...mesh, [Symbol.asyncDispose]: async () => installed.dispose() }
}
