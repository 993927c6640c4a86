import type { ErrorRecord } from '../contract/errors.ts'
import { fateTime } from './links/limits.ts'

interface Lost {
  readonly worker: number
  readonly reason: ErrorRecord
  readonly timer: NodeJS.Timeout
  readonly resolve: (fate: ErrorRecord) => void
}

/**
 * What has become of workers to which a link was lost. The end of a pipe looks the same whether the worker behind it has died,
 * or lives and is cut off. Which of both it was is known when the supervisor says that it died, or gives it another link; by
 * then a call that may be repeated can be made over that one.
 */
export class Fates {
  readonly #lost = new Set<Lost>()

  /** Resolves to why the calls fail: as `died` says, else `reason` with what is known. */
  of(worker: number, reason: ErrorRecord): Promise<ErrorRecord> {
    const { promise, resolve } = Promise.withResolvers<ErrorRecord>()
    const timer = setTimeout(() => this.#settle(lost, and(reason, 'nothing says that it has died')), fateTime).unref()
    const lost: Lost = { worker, reason, timer, resolve }
    this.#lost.add(lost)
    return promise
  }

  /** Its new link carries calls. */
  lives(worker: number): void {
    for (const lost of this.#lost)
      if (lost.worker === worker) this.#settle(lost, and(lost.reason, 'it lives and is linked anew'))
  }

  died(worker: number, reason: ErrorRecord): void {
    for (const lost of this.#lost) if (lost.worker === worker) this.#settle(lost, reason)
  }

  /** Nobody will say any more. */
  close(reason: ErrorRecord): void {
    for (const lost of this.#lost) this.#settle(lost, reason)
  }

  #settle(lost: Lost, fate: ErrorRecord): void {
    this.#lost.delete(lost)
    clearTimeout(lost.timer)
    lost.resolve(fate)
  }
}

function and(reason: ErrorRecord, more: string): ErrorRecord {
  return { ...reason, message: `${reason.message}; ${more}` }
}
