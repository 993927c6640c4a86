import type { Admission, EndpointState, RemoteEndpoint } from '../endpoint.ts'
import type { Link } from '../links/link.ts'
import type { Instance, LimitedService, Place } from './limited-service.ts'

/**
 * Where one call to a limited service goes: that is decided when it is admitted, and may change until then. Before, it
 * stands for the instance that is the likeliest.
 */
export class Reservation implements RemoteEndpoint, Admission {
  readonly at = 'link'
  readonly admission = this
  readonly #service: LimitedService
  readonly #candidates: () => readonly Instance[]
  readonly #likeliest: RemoteEndpoint
  #place: Place | undefined

  constructor(service: LimitedService, likeliest: RemoteEndpoint, candidates: () => readonly Instance[]) {
    this.#service = service
    this.#likeliest = likeliest
    this.#candidates = candidates
  }

  /** The instance itself. */
  get target(): RemoteEndpoint {
    return this.#place?.endpoint ?? this.#likeliest
  }

  get service(): string {
    return this.target.service
  }

  get worker(): number {
    return this.target.worker
  }

  get index(): number {
    return this.target.index
  }

  get state(): EndpointState {
    return this.target.state
  }

  get link(): Link {
    return this.target.link
  }

  get typed(): boolean {
    return this.target.typed
  }

  get row(): number | undefined {
    return this.target.row
  }

  enter(deadline: number | undefined, signal: AbortSignal | undefined, priority?: number): void | Promise<void> {
    return this.#service.take(this.#candidates, (place) => (this.#place = place), { deadline, signal, priority })
  }

  /** It stays what it stands for: whoever tries elsewhere says what it was. */
  leave(givenUp = false): void {
    if (this.#place === undefined) return
    if (givenUp) this.#service.giveUp(this.#place)
    else this.#service.release(this.#place)
  }
}
