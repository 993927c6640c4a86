import { abortedBy } from '../../contract/call/end-reasons.ts'
import { BusbarError } from '../../contract/errors.ts'
import { iteratorOf } from '../../contract/host/input-stream.ts'
import { inputInvalid } from '../../contract/host/failures.ts'
import type { Channel } from '../links/link.ts'
import type { RemoteMethod } from './remote-method.ts'

/** Sends the values of a caller to another worker, as fast as that reads them. */
export class Upload {
  readonly #method: RemoteMethod
  readonly #values: AsyncIterator<unknown> | Iterator<unknown>
  #state: 'waiting' | 'sending' | 'over' = 'waiting'
  #onDrain: (() => void) | undefined

  /** Throws INPUT_INVALID for what is not iterable. */
  constructor(method: RemoteMethod, input: unknown) {
    const values = iteratorOf(input)
    if (values === undefined) throw inputInvalid(method.name, [{ path: [], message: 'it is not iterable' }])
    this.#method = method
    this.#values = values
  }

  /** `onFailed`: a value cannot be sent, or the caller's iterable threw. Called once at most. */
  start(channel: Channel, onFailed: (error: BusbarError) => void): void {
    this.#state = 'sending'
    this.#send(channel).catch((error: unknown) => {
      if (this.#isOver) return
      this.stop()
      onFailed(BusbarError.is(error) ? error : abortedBy(this.#method.name))
    })
  }

  onDrain(): void {
    this.#onDrain?.()
  }

  /**
   * The call is over. Closes the caller's iterable without waiting for it. True if it had more to
   * send.
   */
  stop(): boolean {
    if (this.#isOver) return false
    this.#state = 'over'
    this.#onDrain?.()
    void (async () => await this.#values.return?.())().catch(() => {})
    return true
  }

  get #isOver(): boolean {
    return this.#state === 'over'
  }

  async #send(channel: Channel): Promise<void> {
    for (let step = await this.#values.next(); step.done !== true; step = await this.#values.next()) {
      if (this.#isOver) return
      if (!channel.data(this.#method.encodeValue(step.value))) await this.#drained()
      if (this.#isOver) return
    }
    if (this.#isOver) return
    this.#state = 'over'
    channel.end()
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => (this.#onDrain = resolve))
    this.#onDrain = undefined
  }
}

/** The one result of many inputs. */
export async function onlyValue(values: AsyncIterator<unknown>): Promise<unknown> {
  const { value } = await values.next()
  await values.next()
  return value as unknown
}
