/** Simulated time: what is due runs in its order, and no time passes meanwhile. */
export class SimulatedClock {
  /** Milliseconds. */
  now = 0
  /** A binary heap, the earliest first. */
  readonly #due: Due[] = []
  #added = 0

  after(delay: number, run: () => void): void {
    const due = this.#due
    const added: Due = { time: this.now + delay, number: this.#added++, run }
    let at = due.length
    for (let parent = (at - 1) >> 1; at > 0 && isBefore(added, due[parent]!); parent = (at - 1) >> 1) {
      due[at] = due[parent]!
      at = parent
    }
    due[at] = added
  }

  /** Runs what is due before `time`, and what that adds. */
  runUntil(time: number): void {
    while (this.#due.length > 0 && this.#due[0]!.time < time) {
      const { time: now, run } = this.#takeFirst()
      this.now = now
      run()
    }
    this.now = time
  }

  #takeFirst(): Due {
    const due = this.#due
    const first = due[0]!
    const last = due.pop()!
    if (due.length === 0) return first
    let at = 0
    for (let child = 1; child < due.length; child = 2 * at + 1) {
      if (child + 1 < due.length && isBefore(due[child + 1]!, due[child]!)) child++
      if (isBefore(last, due[child]!)) break
      due[at] = due[child]!
      at = child
    }
    due[at] = last
    return first
  }
}

interface Due {
  readonly time: number
  /** What was added first runs first at the same time. */
  readonly number: number
  readonly run: () => void
}

function isBefore(one: Due, other: Due): boolean {
  return one.time === other.time ? one.number < other.number : one.time < other.time
}
