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
 * Its deaths are its own: they cost nobody a call, and do not bring the place nearer to being given up.
 */
export class Spare {
  readonly #parts: SpareParts
  readonly #policy: RestartPolicy
  #worker: WorkerHandle | undefined
  #timer: NodeJS.Timeout | undefined
  /** Of `Date.now()`. */
  #notBefore = 0

  constructor(parts: SpareParts) {
    this.#parts = parts
    // In dev too: the program that it cannot start with goes on in the worker that serves.
    this.#policy = new RestartPolicy(parts.timing, true)
  }

  get worker(): WorkerHandle | undefined {
    return this.#worker?.phase === 'ended' ? undefined : this.#worker
  }

  get status(): SpareStatus | undefined {
    const { worker } = this
    return worker && { state: worker.phase === 'booting' ? 'starting' : 'ready', row: worker.row }
  }

  /** Starts it, unless it is there, or has died too lately or too often. */
  prepare(): void {
    if (this.#worker !== undefined || this.#timer !== undefined) return
    const wait = this.#notBefore - Date.now()
    if (wait > 0) return this.#wait(wait)
    const worker = (this.#worker = this.#parts.launch())
    void worker.ended.then(({ text }) => this.#died(worker, text))
    worker.ready.then(this.#parts.changed, () => {})
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

  #wait(wait: number): void {
    // Longer than a timer can be is for ever: until the slot takes what there is, or starts anew.
    if (wait === Infinity) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#parts.mayStart()
    }, wait)
  }

  #died(worker: WorkerHandle, text: string): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    const wait = this.#policy.died(Date.now()) ?? Infinity
    this.#notBefore = Date.now() + wait
    const { label, say, changed, mayStart } = this.#parts
    const after =
      wait === Infinity ? `there is none until the worker itself starts anew` : `the next one starts in ${wait} ms`
    say('warn', `the spare of worker ${label} died: ${text}; ${after}`)
    changed()
    mayStart()
  }
}
