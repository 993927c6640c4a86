import { loadFrame } from './frames/frame-encoder.ts'
import { countAt, type Frame } from './frames/frame-decoder.ts'
import { maxServices } from './limits/limits.ts'
import { ProtocolError } from './packet-transport.ts'

/**
 * How busy the instances at both ends of a link are, for workers that share no memory. A report
 * goes with the packet that answers a call, once per packet and service, so it takes no message of
 * its own.
 */
export class LoadReports {
  readonly #inFlightOf: ((service: string) => number) | undefined
  /** Services of this side that have answered since the last report. */
  readonly #answered = new Set<string>()
  #lastAnswered: string | undefined
  /** The peer's last reports. */
  readonly #loads = new Map<string, number>()

  /** `inFlightOf`: undefined if this side sends no reports. */
  constructor(inFlightOf: ((service: string) => number) | undefined) {
    this.#inFlightOf = inFlightOf
  }

  answered(service: string): void {
    if (service === this.#lastAnswered || this.#inFlightOf === undefined) return
    this.#lastAnswered = service
    this.#answered.add(service)
  }

  /** The frames of all reports that are due. */
  take(): readonly string[] {
    if (this.#answered.size === 0 || this.#inFlightOf === undefined) return none
    const frames: string[] = []
    for (const service of this.#answered) frames.push(loadFrame(service, this.#inFlightOf(service)))
    this.#answered.clear()
    this.#lastAnswered = undefined
    return frames
  }

  /** Throws {@link ProtocolError} for a peer that names more services than an app may have. */
  receive(frame: Frame): void {
    const service = frame[1]
    if (typeof service !== 'string' || service.length > maxName || this.#loads.size > maxServices)
      throw new ProtocolError('sent a load report without a service')
    this.#loads.set(service, countAt(frame, 2))
  }

  /** Calls in flight at the peer's instance, as last reported. 0 without a report. */
  loadOf(service: string): number {
    return this.#loads.get(service) ?? 0
  }
}

/** Characters of the name of a service. */
const maxName = 63

const none: readonly string[] = []
