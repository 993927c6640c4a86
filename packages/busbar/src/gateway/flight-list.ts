import type { Flight } from './flights.ts'

/**
 * Requests in flight in the order they were added, linked to each other: a map would have V8 make a hash for every response,
 * and grow and shrink with each, which costs a request 1.5 µs.
 */
export class FlightList {
  #first: Flight | undefined
  #last: Flight | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  add(flight: Flight): void {
    flight.list = this
    flight.previous = this.#last
    if (this.#last === undefined) this.#first = flight
    else this.#last.next = flight
    this.#last = flight
    this.#size++
  }

  remove(flight: Flight): void {
    const { previous, next } = flight
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    flight.list = flight.previous = flight.next = undefined
    this.#size--
  }

  /** The one that it stands at may be removed meanwhile. */
  *[Symbol.iterator](): Generator<Flight, void, undefined> {
    for (let flight = this.#first; flight !== undefined;) {
      const { next } = flight
      yield flight
      flight = next
    }
  }
}
