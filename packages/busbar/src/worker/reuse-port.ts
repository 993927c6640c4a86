import type { Socket } from 'node:net'
import { type App, gatewayOpensConnections } from '../config/app.ts'
import { restoreError } from '../contract/errors.ts'
import type { ListenerSpec } from '../shared/control-messages.ts'
import { hasDescriptors, pairsOfDescriptors } from '../shared/process/descriptors.ts'
import type { RefusalCounts } from '../shared/metrics/refusals.ts'
import { openPort, type Port, portFailure } from '../shared/listeners/open-port.ts'
import { RefusedConnections } from '../shared/listeners/refused-connections.ts'
import type { Listeners } from './listeners.ts'

export interface ReusePortParts {
  readonly app: App
  /** The public ports to open. */
  readonly specs: readonly ListenerSpec[]
  readonly listeners: Listeners
  readonly isTls: (listener: ListenerSpec) => boolean
  readonly counts: RefusalCounts
}

/**
 * The ports that this worker opens itself under `accept: 'reusePort'`. The kernel balances
 * connections over the listeners of all workers.
 */
export class ReusePortListeners {
  readonly ports: readonly Port[]
  readonly #refusals: RefusedConnections

  private constructor(ports: readonly Port[], refusals: RefusedConnections) {
    this.ports = ports
    this.#refusals = refusals
  }

  /** Rejects with the BusbarError of the first port that cannot be opened. */
  static async open({ app, specs, listeners, isTls, counts }: ReusePortParts): Promise<ReusePortListeners> {
    const refusals = new RefusedConnections(counts)
    // Every worker may use an equal share of the process's descriptors.
    const share = gatewayOpensConnections(app) ? Math.max(1, Math.floor(pairsOfDescriptors() / app.workers)) : Infinity
    let open = 0
    const connection = (spec: ListenerSpec, socket: Socket): void => {
      const most = spec.serves.kind === 'gateway' ? share : Infinity
      if (open >= most || !hasDescriptors()) return refusals.refuse(socket, 'full', isTls(spec))
      open++
      socket.once('close', () => open--)
      listeners.accept(spec.id, socket)
    }
    const opening = specs.map((spec) => openReusePort(spec, (socket) => connection(spec, socket)))
    return new ReusePortListeners(await Promise.all(opening), refusals)
  }

  /** Closes refused connections that are still open. */
  closeRefused(): void {
    this.#refusals.close()
  }
}

async function openReusePort(spec: ListenerSpec, connection: (socket: Socket) => void): Promise<Port> {
  try {
    return await openPort(spec, { reusePort: true, paused: false }, { connection, error: () => {} })
  } catch (error) {
    throw restoreError(portFailure(error as NodeJS.ErrnoException, spec))
  }
}
