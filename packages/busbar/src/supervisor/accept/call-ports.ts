import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { App } from '../../config/app.ts'
import { type CallAccess, type CallPort, type CallRoute, noCallAccess } from '../../shared/calls/call-access.ts'
import { callRoutesOf } from '../plan.ts'
import type { WorkerHandle } from '../workers/worker-handle.ts'
import { Acceptor, type AcceptorParts } from './acceptor.ts'

export interface CallPortsParts extends Pick<AcceptorParts, 'timing' | 'log'> {
  readonly app: App
  /** All workers that have not ended. */
  readonly workers: () => readonly WorkerHandle[]
}

const prefix = 'calls'

/** In order of preference: a booting worker stays, a draining one ends soon. */
const phases: readonly WorkerHandle['phase'][] = ['serving', 'booting', 'draining']

/**
 * The private ports on which programs outside of the workers call services: one for all programs of
 * Node, and one for each service that a command needs. They are open from before the first worker
 * starts until the last has ended, so that restarts do not change the port numbers. Shared workers
 * accept the connections, or all workers if there are no shared ones.
 */
export class CallPorts {
  readonly #app: App
  readonly #acceptor: Acceptor
  #access: CallAccess = noCallAccess

  constructor(parts: CallPortsParts) {
    this.#app = parts.app
    this.#acceptor = new Acceptor({
      timing: parts.timing,
      log: parts.log,
      serving: () => acceptingAmong(parts.workers()),
      // The callers belong to the app and may start before any worker accepts connections.
      isReplacing: () => true,
      isTls: () => false,
      maxConnectionsAt: () => Infinity,
    })
  }

  get access(): CallAccess {
    return this.#access
  }

  async open(): Promise<void> {
    const ports = [await this.#open(prefix, undefined)]
    for (const route of callRoutesOf(this.#app))
      ports.push(await this.#open(`${prefix}:${route.caller}:${route.service}`, route))
    this.#access = { ports, token: randomBytes(24).toString('base64url') }
  }

  /** Opens the ports that commands of `app` need besides. Workers that start later accept there. */
  async add(app: App): Promise<void> {
    const { ports, token } = this.#access
    const added: CallPort[] = []
    for (const route of callRoutesOf(app)) {
      const id = `${prefix}:${route.caller}:${route.service}`
      if (!ports.some((port) => port.id === id)) added.push(await this.#open(id, route))
    }
    this.#access = { ports: [...ports, ...added], token }
  }

  /** A worker has started, serves or has ended. */
  review(): void {
    this.#acceptor.review()
  }

  /** A connection that came back from a worker. False if it is not one of these ports'. */
  retry(listenerId: string, socket: Socket): boolean {
    const isOurs = this.#access.ports.some(({ id }) => id === listenerId)
    if (isOurs) this.#acceptor.retry(listenerId, socket)
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

function acceptingAmong(workers: readonly WorkerHandle[]): readonly WorkerHandle[] {
  for (const phase of phases)
    for (const kinds of [['shared'], ['thread', 'process']] as const) {
      const accepting = workers.filter((worker) => worker.phase === phase && isOneOf(kinds, worker.spec.kind))
      if (accepting.length > 0) return accepting
    }
  return []
}

function isOneOf(kinds: readonly string[], kind: string): boolean {
  return kinds.includes(kind)
}
