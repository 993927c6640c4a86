import type { CallTimer, CallTimes } from '../../shared/metrics/call-times.ts'
import { InstanceCells } from '../../shared/metrics/instance-cells.ts'
import type { ReportFile } from '../../shared/metrics/report-file.ts'
import { WorkerCells } from '../../shared/metrics/worker-cells.ts'

/** The row of a process, which each heartbeat writes to the file that the supervisor reads. */
export class ReportedRow extends WorkerCells {
  readonly #file: ReportFile
  readonly #failed: () => void

  /** `failed` is called with each heartbeat that cannot be written. */
  constructor(memory: SharedArrayBuffer, file: ReportFile, failed: () => void) {
    super(memory, 0)
    this.#file = file
    this.#failed = failed
  }

  override beat(now: number): void {
    super.beat(now)
    if (!this.#file.writeRow(this)) this.#failed()
  }
}

/**
 * Counters of a process's service that survive a crash of the process. They are written to a file
 * before the first call of a batch starts, and again before its responses are sent. A write takes 2
 * µs.
 */
export class ReportedCells extends InstanceCells {
  readonly #file: ReportFile
  #isScheduled = false

  constructor(cells: Uint32Array, times: CallTimes, file: ReportFile) {
    super(cells, times)
    this.#file = file
  }

  override countStart(): CallTimer | undefined {
    const timer = super.countStart()
    if (!this.#isScheduled) this.#file.writeCounts(this)
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
      this.#file.writeCounts(this)
    })
  }
}
