import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { App } from '../../config/app.ts'
import { type CallAccess, type CallPort, type CallRoute, noCalls } from '../../shared/call-access.ts'
import type { WorkerHandle } from '../handle.ts'
import { Acceptor, type AcceptorParts } from './accept.ts'

export interface CallPortsParts extends Pick<AcceptorParts, 'timing' | 'say'> {
  readonly app: App
  /** All that have not ended. */
  readonly workers: () => readonly WorkerHandle[]
}

const prefix = 'calls'

/** The first is the best to take a connection: one that takes over stays, one that drains ends soon. */
const phases: readonly WorkerHandle['phase'][] = ['serving', 'booting', 'draining']

/**
 * The private ports by which programs outside of the workers call services: one for all programs of Node, and one for each
 * service that a command needs. They are open from before the first worker starts until the last has ended, so that their
 * numbers stay whatever is restarted. Workers with a gateway take their connections, where there is none all others do.
 */
export class CallPorts {
  readonly #app: App
  readonly #acceptor: Acceptor
  #access: CallAccess = noCalls

  constructor(parts: CallPortsParts) {
    this.#app = parts.app
    this.#acceptor = new Acceptor({
      timing: parts.timing,
      say: parts.say,
      serving: () => takersAmong(parts.workers()),
      // Those who call are of the app itself, and may start before any worker can take them.
      isComing: () => true,
      isTls: () => false,
      mostAt: () => Infinity,
    })
  }

  get access(): CallAccess {
    return this.#access
  }

  async open(): Promise<void> {
    const ports = [await this.#open(prefix, undefined)]
    for (const route of routesOf(this.#app))
      ports.push(await this.#open(`${prefix}:${route.caller}:${route.service}`, route))
    this.#access = { ports, token: randomBytes(24).toString('base64url') }
  }

  /** A worker has begun, serves, or has ended. */
  review(): void {
    this.#acceptor.review()
  }

  /** False where the connection did not come from here. */
  again(listener: string, socket: Socket): boolean {
    const isOurs = this.#access.ports.some(({ id }) => id === listener)
    if (isOurs) this.#acceptor.again(listener, socket)
    return isOurs
  }

  close(): Promise<void> {
    return this.#acceptor.close()
  }

  async #open(id: string, route: CallRoute | undefined): Promise<CallPort> {
    const serves = { kind: 'service', service: route?.service ?? '' } as const
    const { port } = await this.#acceptor.open({ id, host: '127.0.0.1', port: 0, serves })
    return { id, port, route }
  }
}

function routesOf({ services }: App): CallRoute[] {
  const commands = services.filter(({ kind }) => kind === 'command')
  return commands.flatMap(({ name, needs }) => needs.map((service) => ({ caller: name, service })))
}

function takersAmong(workers: readonly WorkerHandle[]): readonly WorkerHandle[] {
  for (const phase of phases)
    for (const kinds of [['shared'], ['thread', 'process']] as const) {
      const takers = workers.filter((worker) => worker.phase === phase && isOneOf(kinds, worker.place.kind))
      if (takers.length > 0) return takers
    }
  return []
}

function isOneOf(kinds: readonly string[], kind: string): boolean {
  return kinds.includes(kind)
}
