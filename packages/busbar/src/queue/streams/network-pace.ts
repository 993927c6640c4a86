import { longestWait } from './ack-wait.ts'

/** Milliseconds. */
const remembered = 600_000

/**
 * How slow the network of this host to NATS was lately, over several connections. Consumers that
 * are opened then ask for one item at a time: a server that has sent many large ones closes the
 * connection before they have arrived (its `write_deadline`).
 */
export class NetworkPace {
  #slowAt = -Infinity
  #delay = 0

  get isSlow(): boolean {
    return performance.now() - this.#slowAt < remembered
  }

  /** Milliseconds that an answer may take longer than usual: it may come behind a large message. */
  get delay(): number {
    return this.isSlow ? this.#delay : 0
  }

  /** Something took `age` milliseconds to arrive, or had not arrived after that. */
  wasSlow(age: number): void {
    this.#delay = Math.min(longestWait, Math.max(this.delay, age))
    this.#slowAt = performance.now()
  }
}
