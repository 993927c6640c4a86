import type { CountsFile } from '../../shared/metrics/counts-file.ts'
import type { CallTimer, CallTimes } from '../../shared/metrics/call-times.ts'
import { InstanceCells } from '../../shared/metrics/instance-table.ts'

/**
 * Counters of a process's service that survive a crash of the process. They are written to a file
 * before the first call of a batch starts, and again before its responses are sent. A write takes 2
 * µs.
 */
export class CrashSafeCells extends InstanceCells {
  readonly #file: CountsFile
  #isScheduled = false

  constructor(cells: Uint32Array, times: CallTimes, file: CountsFile) {
    super(cells, times)
    this.#file = file
  }

  override countStart(): CallTimer | undefined {
    const timer = super.countStart()
    if (!this.#isScheduled) this.#file.write(this)
    this.#scheduleWrite()
    return timer
  }

  override countEnd(failed: boolean): void {
    super.countEnd(failed)
    this.#scheduleWrite()
  }

  override countShed(): void {
    super.countShed()
    this.#scheduleWrite()
  }

  #scheduleWrite(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#file.write(this)
    })
  }
}
