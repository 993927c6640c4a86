/**
 * Calls that this worker has sent to an instance and that are not yet among those which the instance says it answers. Without
 * them a burst would all go to whoever has not heard of it; counted on and on, as calls in flight are, those that have arrived
 * would count twice, and a burst would pile up on instances that just got one.
 *
 * It is an estimate: what others send meanwhile looks like ours arriving, and a call that was not sent after all like one that
 * is under way, until the next heartbeat.
 */
export class Underway {
  #sent = 0
  /** What the instance said when none was under way. */
  #mark = 0
  #beat = -1

  add(): void {
    this.#sent++
  }

  /** Of an instance whose calls can be read at any moment; `begun`: how many it has begun, since ever. `beat`: this worker's last. */
  notBegun(begun: number, beat: number): number {
    if (beat === this.#beat) {
      const left = this.#sent - ((begun - this.#mark) >>> 0)
      if (left > 0) return left
    }
    return this.#reset(begun, beat)
  }

  /** Of one that tells its load from time to time. */
  sinceTold(load: number, beat: number): number {
    return beat === this.#beat && load === this.#mark ? this.#sent : this.#reset(load, beat)
  }

  #reset(mark: number, beat: number): number {
    this.#sent = 0
    this.#mark = mark
    this.#beat = beat
    return 0
  }
}
