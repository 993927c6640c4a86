import type { CallTimer, CallTimes } from './call-times.ts'

export type InstanceState = 'absent' | 'starting' | 'serving' | 'draining' | 'stopped'

const states: readonly InstanceState[] = ['absent', 'starting', 'serving', 'draining', 'stopped']

/** In cells, with the padding. */
export const serviceCells = 32
export const serviceCell = { state: 0, begun: 1, over: 2, failures: 3, shed: 4, waiting: 5 } as const
/** Further cells of a service. `dropped` is counted by publishers, too. */
const eventCell = { handled: 6, failed: 7, dropped: 8, waiting: 9 } as const

/** The events of topics that a service subscribes to. */
export interface EventCounts {
  /** Events whose handler has ended, and of these, the ones whose handler has failed. */
  readonly handled: number
  readonly failed: number
  /** Events that no instance has accepted, or that were given up at the end of a stop. */
  readonly dropped: number
  /** Accepted events whose handler has not begun. */
  readonly waiting: number
}

/** The cells of one service in one worker. */
export class InstanceCells {
  readonly #cells: Uint32Array
  readonly #times: CallTimes | undefined

  /** `times`: for the host, whose calls are measured. */
  constructor(cells: Uint32Array = new Uint32Array(serviceCells), times?: CallTimes) {
    this.#cells = cells
    this.#times = times
  }

  get state(): InstanceState {
    return states[this.#cells[serviceCell.state]!] ?? 'absent'
  }

  set state(state: InstanceState) {
    this.#cells[serviceCell.state] = states.indexOf(state)
  }

  /** Calls in flight in this worker's instance; derived, which saves writing a serviceCell. */
  get inFlight(): number {
    // In this order, so that a call that starts and ends in between cannot make the result
    // negative.
    const over = this.#cells[serviceCell.over]!
    return (this.#cells[serviceCell.begun]! - over) >>> 0
  }

  /** The cells that {@link ReportFile} stores: all counts of calls. */
  get counts(): Uint32Array {
    return this.#cells.subarray(serviceCell.begun, serviceCell.shed + 1)
  }

  /** Calls that the instance has started. */
  get calls(): number {
    return this.#cells[serviceCell.begun]!
  }

  /** Of these, the ones without an answer, or with a status of 500 or higher. */
  get failures(): number {
    return this.#cells[serviceCell.failures]!
  }

  /** Calls refused because the queue was full. */
  get shed(): number {
    return this.#cells[serviceCell.shed]!
  }

  /** Calls that wait in this worker for an instance with a free slot. */
  get waiting(): number {
    return this.#cells[serviceCell.waiting]!
  }

  /** Returns the timer of a call that is measured. */
  countStart(): CallTimer | undefined {
    this.#cells[serviceCell.begun] = this.#cells[serviceCell.begun]! + 1
    return this.#times?.begin()
  }

  countEnd(failed: boolean): void {
    const cells = this.#cells
    cells[serviceCell.over] = cells[serviceCell.over]! + 1
    if (failed) cells[serviceCell.failures] = cells[serviceCell.failures]! + 1
  }

  countShed(): void {
    this.#cells[serviceCell.shed] = this.#cells[serviceCell.shed]! + 1
  }

  addWaiting(by: 1 | -1): void {
    this.#cells[serviceCell.waiting] = this.#cells[serviceCell.waiting]! + by
  }

  get events(): EventCounts {
    const { handled, failed, dropped, waiting } = eventCell
    const cells = this.#cells
    return { handled: cells[handled]!, failed: cells[failed]!, dropped: cells[dropped]!, waiting: cells[waiting]! }
  }

  countEvent(failed: boolean): void {
    this.#add(eventCell.handled, 1)
    if (failed) this.#add(eventCell.failed, 1)
  }

  countEventDropped(): void {
    this.#add(eventCell.dropped, 1)
  }

  addEventsWaiting(by: number): void {
    this.#add(eventCell.waiting, by)
  }

  #add(at: number, by: number): void {
    this.#cells[at] = this.#cells[at]! + by
  }
}
