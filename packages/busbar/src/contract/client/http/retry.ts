import { BusbarError } from '../../errors.ts'

/**
 * Limits retries to a share of the calls, plus a small burst. If a service is down for everybody,
 * clients that each retry three times would keep it down.
 */
export class RetryBudget {
  readonly #share: number
  #tokens = 10

  constructor(share = 0.1) {
    this.#share = share
  }

  earn(): void {
    this.#tokens = Math.min(10, this.#tokens + this.#share)
  }

  spend(): boolean {
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}

export interface RetryOptions {
  /** Maximum number of retries. */
  readonly times: number
  readonly budget: RetryBudget
  /** Aborts the wait between attempts. */
  readonly signal: AbortSignal
}

/** Retries transient failures, with exponential backoff and jitter. */
export async function withRetries<T>(attempt: () => Promise<T>, { times, budget, signal }: RetryOptions): Promise<T> {
  budget.earn()
  for (let at = 0; ; at++) {
    try {
      return await attempt()
    } catch (error) {
      if (at >= times || !isTransient(error) || !budget.spend()) throw error
      const asked = ((error as BusbarError).data as { retryAfter?: number } | undefined)?.retryAfter ?? 0
      await pause(Math.max(asked * 1000, Math.random() * 100 * 2 ** at), signal)
    }
  }
}

function isTransient(error: unknown): boolean {
  if (!BusbarError.is(error)) return false
  return ['SERVICE_UNAVAILABLE', 'SERVICE_HANGUP', 'RESOURCE_EXHAUSTED', 'WORKER_DIED', 'LINK_LOST'].includes(
    error.code,
  )
}

function pause(delay: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abort = (): void => reject(signal.reason as Error)
  const timer = setTimeout(resolve, delay)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  })
}
