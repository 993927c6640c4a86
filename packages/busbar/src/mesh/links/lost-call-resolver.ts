import type { ErrorRecord } from '../../contract/errors.ts'
import { startRunningTimeout } from '../../shared/time/running-timeout.ts'
import { lostCallTimeout } from './limits/limits.ts'

interface LostCalls {
  readonly worker: number
  readonly reason: ErrorRecord
  readonly clearTimer: () => void
  readonly resolve: (error: ErrorRecord) => void
}

/**
 * Decides with which error the calls of a lost link fail. A lost link does not tell whether its
 * worker has died or is only cut off. The supervisor tells: it reports a death, or links the worker
 * again, and by then a retry can use the new link.
 */
export class LostCallResolver {
  readonly #lost = new Set<LostCalls>()

  /** Resolves to the error of {@link died}, else to `reason` with what is known added. */
  resolve(worker: number, reason: ErrorRecord): Promise<ErrorRecord> {
    const { promise, resolve } = Promise.withResolvers<ErrorRecord>()
    const onTimeout = (): void => this.#settle(lost, addTo(reason, 'it is unknown whether the worker has died'))
    const clearTimer = startRunningTimeout(lostCallTimeout, onTimeout)
    const lost: LostCalls = { worker, reason, clearTimer, resolve }
    this.#lost.add(lost)
    return promise
  }

  /** The worker has a new link. */
  relinked(worker: number): void {
    for (const lost of this.#lost)
      if (lost.worker === worker) this.#settle(lost, addTo(lost.reason, 'it is alive and has a new link'))
  }

  died(worker: number, reason: ErrorRecord): void {
    for (const lost of this.#lost) if (lost.worker === worker) this.#settle(lost, reason)
  }

  /** Settles all of them: this worker stops. */
  close(reason: ErrorRecord): void {
    for (const lost of this.#lost) this.#settle(lost, reason)
  }

  #settle(lost: LostCalls, error: ErrorRecord): void {
    this.#lost.delete(lost)
    lost.clearTimer()
    lost.resolve(error)
  }
}

function addTo(reason: ErrorRecord, more: string): ErrorRecord {
  return { ...reason, message: `${reason.message}; ${more}` }
}
