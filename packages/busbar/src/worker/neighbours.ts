import type { ErrorRecord } from '../contract/errors.ts'
import type { InstanceSpec, PeerSpec, ToWorker } from '../shared/control.ts'

/** Who makes the links: `mesh/peers.ts`. */
export interface Links {
  join(peer: PeerSpec): void
  serves(peer: number, service: InstanceSpec): void
  leave(peer: number, reason: ErrorRecord): void
}

export type NeighbourOrder = Extract<ToWorker, { type: 'join' | 'serves' | 'leave' }>

/** The other workers of the app, as this one is told of them. */
export class Neighbours {
  readonly #links: Links
  /** What each of them serves. */
  readonly #serving = new Map<number, Set<string>>()
  readonly #waiting = new Set<{ readonly service: string; readonly resolve: (serves: boolean) => void }>()

  constructor(links: Links) {
    this.#links = links
  }

  obey(order: NeighbourOrder): void {
    switch (order.type) {
      case 'join': {
        const { worker, services } = order.peer
        this.#serving.set(worker, new Set())
        this.#links.join(order.peer)
        for (const { name } of services) this.#serves(worker, name)
        return
      }
      case 'serves':
        this.#links.serves(order.peer, order.service)
        return this.#serves(order.peer, order.service.name)
      case 'leave':
        this.#serving.delete(order.peer)
        return this.#links.leave(order.peer, order.reason)
    }
  }

  /** True when the service serves in another worker, false when it does not within `limit` milliseconds. */
  async until(service: string, limit: number): Promise<boolean> {
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

  #serves(worker: number, service: string): void {
    this.#serving.get(worker)?.add(service)
    for (const waiting of this.#waiting) if (waiting.service === service) waiting.resolve(true)
  }
}
