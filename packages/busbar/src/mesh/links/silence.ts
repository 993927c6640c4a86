/** Whom a link's silence concerns. */
export interface Listener {
  ask(): void
  giveUp(silence: number): void
}

/** Parts of the time after which a silent peer is asked; the last one gives it up. */
const parts = 3

/**
 * A cut connection may look open for hours (a half-open one). A peer that says nothing is asked, and one that does not
 * answer is gone. Counted in turns of a timer: where this very thread was stopped, none of them has passed.
 */
export class Silence {
  readonly #length: number
  readonly #listener: Listener
  readonly #timer: NodeJS.Timeout
  #quiet = 0

  constructor(length: number, listener: Listener) {
    this.#length = length
    this.#listener = listener
    this.#timer = setInterval(() => this.#turn(), length / parts).unref()
  }

  heard(): void {
    this.#quiet = 0
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #turn(): void {
    this.#quiet++
    if (this.#quiet > parts) this.#listener.giveUp(this.#length)
    else if (this.#quiet > 1) this.#listener.ask()
  }
}
