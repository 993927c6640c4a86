import type { Socket } from 'node:net'
import { connectsToCommands } from '../config/gateway/commands.ts'
import type { App } from '../config/app.ts'
import { BusbarError } from '../contract/errors.ts'
import type { ListenerSpec } from '../shared/control.ts'
import { hasDescriptors, pairsOfDescriptors } from '../shared/descriptors.ts'
import { openPort, type Port, portFailure } from '../shared/port.ts'
import { Refusals } from '../shared/refusals.ts'
import type { Doors } from './doors.ts'

export interface OwnPortsParts {
  readonly app: App
  readonly listeners: readonly ListenerSpec[]
  readonly doors: Doors
  readonly isTls: (listener: ListenerSpec) => boolean
}

/** Under `accept: 'reusePort'`: the kernel balances over all workers' listeners. */
export class OwnPorts {
  /** Those that are open. */
  readonly ports: readonly Port[]
  readonly #refusals: Refusals

  private constructor(ports: readonly Port[], refusals: Refusals) {
    this.ports = ports
    this.#refusals = refusals
  }

  /** Rejects with what is wrong with the first port that cannot be had. */
  static async open({ app, listeners, doors, isTls }: OwnPortsParts): Promise<OwnPorts> {
    const refusals = new Refusals()
    // Workers start side by side, and each gets its share.
    const share = connectsToCommands(app) ? Math.max(1, Math.floor(pairsOfDescriptors() / app.workers)) : Infinity
    let open = 0
    const connection = (spec: ListenerSpec, socket: Socket): void => {
      const most = spec.serves.kind === 'gateway' ? share : Infinity
      if (open >= most || !hasDescriptors()) return refusals.refuse(socket, 'full', isTls(spec))
      open++
      socket.once('close', () => open--)
      doors.admitOwn(spec.id, socket)
    }
    const opening = listeners.map((spec) => openOwn(spec, (socket) => connection(spec, socket)))
    return new OwnPorts(await Promise.all(opening), refusals)
  }

  /** What was refused and is still open. */
  cut(): void {
    this.#refusals.close()
  }
}

async function openOwn(spec: ListenerSpec, connection: (socket: Socket) => void): Promise<Port> {
  try {
    return await openPort(spec, { reusePort: true, paused: false }, { connection, error: () => {} })
  } catch (error) {
    throw BusbarError.fromRecord(portFailure(error as NodeJS.ErrnoException, spec))
  }
}
