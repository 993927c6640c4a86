import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarError } from '../contract/errors.ts'
import type { EndReason } from './running-app.ts'

/** What an app has open, from its start to its end. */
export class Lifetime {
  /** In the order of opening; closed in reverse order. */
  readonly #owned = new AsyncDisposableStack()
  readonly #ending = new AbortController()
  readonly #ended = Promise.withResolvers<EndReason>()
  #closing: Promise<void> | undefined

  /** Aborts when the end begins. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** Resolves when everything has closed. */
  get ended(): Promise<EndReason> {
    return this.#ended.promise
  }

  /** Registers what the end closes. Call it before the opening, which the end may interrupt. */
  own(close: () => unknown): void {
    this.#checkOpen()
    this.#owned.defer(async () => void (await close()))
  }

  /**
   * Calls `open`, which returns what closes it again. Once the end has begun, nothing opens any
   * more.
   */
  use(open: () => () => unknown): void {
    this.#checkOpen()
    this.own(open())
  }

  /**
   * Calls `begins`, and closes everything `delay` milliseconds later. A second call returns the
   * promise of the first.
   */
  end(reason: EndReason, delay: number, begins: () => void): Promise<void> {
    this.#closing ??= this.#close(reason, delay, begins)
    return this.#closing
  }

  #checkOpen(): void {
    if (this.ending.aborted) throw new BusbarError('INTERNAL', { message: 'stopped during the start' })
  }

  async #close(reason: EndReason, delay: number, begins: () => void): Promise<void> {
    begins()
    this.#ending.abort()
    if (delay > 0) await sleep(delay)
    await this.#owned.disposeAsync()
    this.#ended.resolve(reason)
  }
}

/**
 * Calls `open`. If it fails or `signal` aborts it, calls `stop`, and rejects when everything has
 * closed.
 */
export async function openOrStop(
  signal: AbortSignal | undefined,
  open: () => Promise<void>,
  stop: () => Promise<void>,
): Promise<void> {
  const abort = (): void => void stop()
  signal?.addEventListener('abort', abort)
  try {
    signal?.throwIfAborted()
    await open()
  } catch (error) {
    await stop()
    throw signal?.aborted === true ? signal.reason : error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}
