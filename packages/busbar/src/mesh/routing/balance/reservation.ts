import type { Admission, EndpointState, RemoteEndpoint } from '../endpoint.ts'
import type { Link } from '../../links/link.ts'
import type { Transport } from '../../../shared/metrics/edge-table.ts'
import type { LimitedInstance, LimitedService, TakenSlot } from '../limits/limited-service.ts'

/**
 * The target of one call to a service with a concurrency limit. It is decided when the call is
 * admitted. Until then it is the likeliest instance.
 */
export class Reservation implements RemoteEndpoint, Admission {
  readonly at = 'link'
  readonly admission = this
  readonly #service: LimitedService
  readonly #candidates: () => readonly LimitedInstance[]
  readonly #likeliest: RemoteEndpoint
  #slot: TakenSlot | undefined

  constructor(service: LimitedService, likeliest: RemoteEndpoint, candidates: () => readonly LimitedInstance[]) {
    this.#service = service
    this.#likeliest = likeliest
    this.#candidates = candidates
  }

  /** The instance itself. */
  get target(): RemoteEndpoint {
    return this.#slot?.endpoint ?? this.#likeliest
  }

  get service(): string {
    return this.target.service
  }

  get worker(): number {
    return this.target.worker
  }

  /** Undefined until the call is admitted: no instance has it. */
  get slot(): number | undefined {
    return this.#slot?.endpoint.slot
  }

  get transport(): Transport | undefined {
    return this.target.transport
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

  get path(): string | undefined {
    return this.target.path
  }

  get typed(): boolean {
    return this.target.typed
  }

  get row(): number | undefined {
    return this.target.row
  }

  enter(deadline: number | undefined, signal: AbortSignal | undefined, priority?: number): void | Promise<void> {
    return this.#service.take(this.#candidates, (slot) => (this.#slot = slot), { deadline, signal, priority })
  }

  /** Keeps its target: a retry must exclude that instance. */
  leave(givenUp = false): void {
    if (this.#slot === undefined) return
    if (givenUp) this.#service.giveUp(this.#slot)
    else this.#service.release(this.#slot)
  }
}
