import type { SimulatedClock } from './clock.ts'

/** Milliseconds of a call's work, on average. */
export const meanWork = 5

/** Calls that a host works on at once. The others wait in their order. */
const cores = 2

/** Calls per millisecond that a host can just answer. */
export const capacity = cores / meanWork

/** The instance that one host has of the service. */
export class SimulatedHost {
  readonly name: string
  readonly zone: number
  /** How many times as long its work takes. */
  pace = 1
  /** Neither answers nor closes its connections: its zone is cut off. */
  isCutOff = false
  /** Calls that have arrived and are not answered. */
  inFlight = 0
  readonly #clock: SimulatedClock
  readonly #freeAt: number[] = Array.from({ length: cores }, () => 0)

  constructor(clock: SimulatedClock, number: number, zone: number) {
    this.#clock = clock
    this.name = `host-${number}`
    this.zone = zone
  }

  /** A call arrives. `work`: its milliseconds on a host of pace 1. */
  answer(work: number, answered: () => void): void {
    if (this.isCutOff) return
    this.inFlight++
    const core = this.#freeAt.indexOf(Math.min(...this.#freeAt))
    const end = Math.max(this.#clock.now, this.#freeAt[core]!) + work * this.pace
    this.#freeAt[core] = end
    this.#clock.after(end - this.#clock.now, () => {
      this.inFlight--
      if (!this.isCutOff) answered()
    })
  }
}
