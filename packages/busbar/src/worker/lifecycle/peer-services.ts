import type { ErrorRecord } from '../../contract/errors.ts'
import type { InstanceSpec, PeerSpec, ToWorker } from '../../shared/control-messages.ts'

/** Opens and closes links to peers: `Peers` of the mesh. */
export interface PeerLinks {
  join(peer: PeerSpec): void
  serves(peer: number, service: InstanceSpec): void
  health(peer: number, service: string, healthy: boolean): void
  leave(peer: number, reason: ErrorRecord): void
}

export type PeerOrder = Extract<ToWorker, { type: 'join' | 'serves' | 'health' | 'leave' }>

/** Which services the app's other workers serve, as the supervisor announces it. */
export class PeerServices {
  readonly #links: PeerLinks
  /** Names of services, by the number of the peer. */
  readonly #serving = new Map<number, Set<string>>()
  readonly #waiting = new Set<{ readonly service: string; readonly resolve: (serves: boolean) => void }>()

  constructor(links: PeerLinks) {
    this.#links = links
  }

  handle(order: PeerOrder): void {
    switch (order.type) {
      case 'join': {
        const { worker, services } = order.peer
        this.#serving.set(worker, new Set())
        this.#links.join(order.peer)
        for (const { name } of services) this.#add(worker, name)
        return
      }
      case 'serves':
        this.#links.serves(order.peer, order.service)
        return this.#add(order.peer, order.service.name)
      case 'health':
        return this.#links.health(order.peer, order.service, order.healthy)
      case 'leave':
        this.#serving.delete(order.peer)
        return this.#links.leave(order.peer, order.reason)
    }
  }

  /** Resolves to true when a peer serves `service`, to false after `limit` milliseconds. */
  async waitFor(service: string, limit: number): Promise<boolean> {
    if ([...this.#serving.values()].some((names) => names.has(service))) return true
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiting = { service, resolve }
    this.#waiting.add(waiting)
    const timer = setTimeout(resolve, limit, false)
    const serves = await promise
    clearTimeout(timer)
    this.#waiting.delete(waiting)
    return serves
  }

  #add(worker: number, service: string): void {
    this.#serving.get(worker)?.add(service)
    for (const waiting of this.#waiting) if (waiting.service === service) waiting.resolve(true)
  }
}
