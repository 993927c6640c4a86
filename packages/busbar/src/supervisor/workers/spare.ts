import { RestartPolicy } from '../restart-policy.ts'
import type { Timing } from '../timing.ts'
import type { WorkerExit } from './worker-exit.ts'
import type { WorkerHandle } from './worker-handle.ts'
import type { SpareStatus } from './worker-status.ts'

export interface SpareParts {
  /** The name of the slot's worker in log lines. */
  readonly label: () => string
  readonly timing: Timing
  readonly launch: () => WorkerHandle
  /** Lets peers call the spare. */
  readonly announce: (worker: WorkerHandle) => void
  /** The pause before the next spare is over. */
  readonly pauseOver: () => void
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void
  readonly changed: () => void
}

/**
 * One more worker for a slot. It boots while another one serves, and takes over when that one ends:
 *
 *     none ─→ starting ─→ ready ─→ taken             by the slot, even while it still starts
 *      ↑         └──────────┴────→ none, for a pause    it died
 *
 * Deaths of the spare cost no call, so neither the slot nor `maxRestarts` counts them.
 */
export class Spare {
  readonly #parts: SpareParts
  readonly #policy: RestartPolicy
  #worker: WorkerHandle | undefined
  #timer: NodeJS.Timeout | undefined
  /** When the current one became ready; of `Date.now()`. */
  #readyAt: number | undefined
  /** When the next one may start; of `Date.now()`. */
  #notBefore = 0

  constructor(parts: SpareParts) {
    this.#parts = parts
    this.#policy = new RestartPolicy(parts.timing)
  }

  get worker(): WorkerHandle | undefined {
    return this.#worker?.phase === 'ended' ? undefined : this.#worker
  }

  get status(): SpareStatus | undefined {
    const { worker } = this
    return worker && { state: worker.phase === 'booting' ? 'starting' : 'ready', row: worker.row }
  }

  /** Starts it, unless it exists. During a pause it starts afterwards. */
  prepare(): void {
    if (this.#worker !== undefined || this.#timer !== undefined) return
    const wait = this.#notBefore - Date.now()
    if (wait > 0) return this.#wait(wait)
    const worker = (this.#worker = this.#parts.launch())
    this.#readyAt = undefined
    void worker.ended.then((exit) => this.#died(worker, exit))
    worker.ready.then(
      () => this.#ready(worker),
      () => {},
    )
    this.#parts.changed()
  }

  /** Lets peers call it while the worker that it replaces still ends, if it is ready. */
  announce(): void {
    if (this.#worker?.serving === true) this.#parts.announce(this.#worker)
  }

  /** Hands it to the slot. The next one starts `pause` milliseconds from now at the earliest. */
  take(pause = 0): WorkerHandle | undefined {
    const { worker } = this
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#worker = undefined
    this.#notBefore = Date.now() + pause
    return worker
  }

  #ready(worker: WorkerHandle): void {
    if (worker === this.#worker) this.#readyAt = Date.now()
    this.#parts.changed()
  }

  #wait(wait: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#parts.pauseOver()
    }, wait)
  }

  #died(worker: WorkerHandle, exit: WorkerExit): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    const now = Date.now()
    const wait = this.#policy.failed(this.#readyAt === undefined ? 0 : now - this.#readyAt)
    this.#notBefore = now + wait
    const { label, log, changed, pauseOver } = this.#parts
    log('warn', `the spare of worker ${label()} died: ${worker.logged(exit).text}; the next one starts in ${wait} ms`)
    changed()
    pauseOver()
  }
}
