import { type CallEdge, counting } from '../call/call-edge.ts'

/** The two callbacks of a method's promise. */
export interface Outcomes {
  readonly finish: (result: unknown) => unknown
  readonly failed: (thrown: unknown) => unknown
}

/**
 * Outcomes that count for the edge of their caller. Calls that are not measured share them: a
 * closure per call would double the cost of an awaited call.
 */
export class CountedOutcomes {
  readonly #outcomes: Outcomes
  readonly #shared = new Map<CallEdge, Outcomes>()
  #edge: CallEdge | undefined
  #ofEdge: Outcomes | undefined

  constructor(outcomes: Outcomes) {
    this.#outcomes = outcomes
  }

  /** Called when a call begins. `edge`: undefined if the call is counted elsewhere. */
  begin(edge: CallEdge | undefined): Outcomes {
    if (edge === undefined) return this.#outcomes
    const began = edge.begin()
    if (began !== undefined) return this.#count(edge, began)
    if (edge !== this.#edge) this.#select(edge)
    return this.#ofEdge!
  }

  #select(edge: CallEdge): void {
    let shared = this.#shared.get(edge)
    if (shared === undefined) this.#shared.set(edge, (shared = this.#count(edge, undefined)))
    this.#edge = edge
    this.#ofEdge = shared
  }

  #count(edge: CallEdge, began: number | undefined): Outcomes {
    const { finish, failed } = this.#outcomes
    return { finish: counting(edge, began, finish), failed: counting(edge, began, failed) }
  }
}
