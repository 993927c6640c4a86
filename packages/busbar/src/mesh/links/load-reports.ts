import { loadFrame } from './frames.ts'

/**
 * How busy this side's instances are, for others who cannot read it in memory: told beside what was answered, once per
 * packet and service, so that it costs no message of its own.
 */
export class LoadReports {
  readonly #inFlightOf: (service: string) => number
  readonly #answered = new Set<string>()

  constructor(inFlightOf: (service: string) => number) {
    this.#inFlightOf = inFlightOf
  }

  answered(service: string): void {
    this.#answered.add(service)
  }

  /** What is to be told since the last time. */
  take(): string[] {
    if (this.#answered.size === 0) return []
    const frames = [...this.#answered].map((service) => loadFrame(service, this.#inFlightOf(service)))
    this.#answered.clear()
    return frames
  }
}
