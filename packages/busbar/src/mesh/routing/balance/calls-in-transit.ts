/**
 * Calls that this worker has sent to an instance and that the instance's own count does not include
 * yet. Without them a burst would go to one instance until its count arrives. Counting all calls in
 * flight instead would count those that have arrived twice, and move the burst to the other
 * instances.
 *
 * It is an estimate. A call that another worker sends meanwhile looks like the arrival of ours, and
 * a call that was not sent after all counts until the next heartbeat.
 */
export class CallsInTransit {
  #sent = 0
  /** The instance's own count when no call was in transit. */
  #mark = 0
  #beat = -1

  add(): void {
    this.#sent++
  }

  /**
   * For an instance whose count is in shared memory. `begun`: the calls it has begun in total.
   * `beat`: this worker's last heartbeat.
   */
  notBegun(begun: number, beat: number): number {
    if (beat === this.#beat) {
      const left = this.#sent - ((begun - this.#mark) >>> 0)
      if (left > 0) return left
    }
    return this.#reset(begun, beat)
  }

  /** For an instance that reports its load from time to time. */
  sinceReport(load: number, beat: number): number {
    return beat === this.#beat && load === this.#mark ? this.#sent : this.#reset(load, beat)
  }

  #reset(mark: number, beat: number): number {
    this.#sent = 0
    this.#mark = mark
    this.#beat = beat
    return 0
  }
}
