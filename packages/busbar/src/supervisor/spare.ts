import type { WorkerHandle } from './handle.ts'
import { RestartPolicy } from './restarts.ts'
import type { SpareStatus } from './running.ts'
import type { Timing } from './timing.ts'

export interface SpareParts {
  /** How lines of the log call the worker it stands behind. */
  readonly label: string
  readonly timing: Timing
  readonly launch: () => WorkerHandle
  /** The others may call it from now on. */
  readonly announce: (worker: WorkerHandle) => void
  /** The time is over that nothing was to be started. */
  readonly mayStart: () => void
  readonly say: (level: 'info' | 'warn' | 'error', line: string) => void
  readonly changed: () => void
}

/**
 * One more worker for a place, which boots while another serves there and is at hand when that ends:
 *
 *     none ─→ starting ─→ ready ─→ taken             by the slot, which may take one that starts, too
 *      ↑         └──────────┴────→ none, for a while    it died
 *
 * Its deaths are counted apart from the worker's: they cost no call, and `maxRestarts` does not count them.
 */
export class Spare {
  readonly #parts: SpareParts
  readonly #policy: RestartPolicy
  #worker: WorkerHandle | undefined
  #timer: NodeJS.Timeout | undefined
  /** When the one that is there got ready; of `Date.now()`. */
  #readyAt: number | undefined
  /** Of `Date.now()`. */
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

  /** Starts it, unless it is there, or the pause after its death is not over. */
  prepare(): void {
    if (this.#worker !== undefined || this.#timer !== undefined) return
    const wait = this.#notBefore - Date.now()
    if (wait > 0) return this.#wait(wait)
    const worker = (this.#worker = this.#parts.launch())
    this.#readyAt = undefined
    void worker.ended.then(({ text }) => this.#died(worker, text))
    worker.ready.then(
      () => this.#ready(worker),
      () => {},
    )
    this.#parts.changed()
  }

  /** Lets the others call it while the one that it is to replace still ends, if it can answer them. */
  announce(): void {
    if (this.#worker?.serving === true) this.#parts.announce(this.#worker)
  }

  /** Makes it the slot's, to serve or to be ended. The next one starts `pause` milliseconds from now at the earliest. */
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
      this.#parts.mayStart()
    }, wait)
  }

  #died(worker: WorkerHandle, text: string): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    const now = Date.now()
    const wait = this.#policy.failed(this.#readyAt === undefined ? 0 : now - this.#readyAt)
    this.#notBefore = now + wait
    const { label, say, changed, mayStart } = this.#parts
    say('warn', `the spare of worker ${label} died: ${text}; the next one starts in ${wait} ms`)
    changed()
    mayStart()
  }
}
