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
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()

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

  /** Settles when the service serves in another worker. */
  until(service: string): Promise<void> {
    if ([...this.#serving.values()].some((names) => names.has(service))) return Promise.resolve()
    const waiting = this.#waiting.get(service) ?? Promise.withResolvers<void>()
    this.#waiting.set(service, waiting)
    return waiting.promise
  }

  #serves(worker: number, service: string): void {
    this.#serving.get(worker)?.add(service)
    this.#waiting.get(service)?.resolve()
    this.#waiting.delete(service)
  }
}
