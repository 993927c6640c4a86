import { setTimeout as sleep } from 'node:timers/promises'
import type { Context, Log } from '../contract/context.ts'
import { BusbarError } from '../contract/errors.ts'
import type { Implementation } from '../contract/implementation.ts'
import type { Enqueued } from '../contract/queues/enqueue.ts'
import { type ItemRecord, queueContract } from '../contract/queues/queue-contract.ts'
import type { QueueCalls } from '../mesh/typed/queue-calls.ts'
import type { QueueCells } from '../shared/metrics/queue-cells.ts'
import type { QueueOrder, QueuePlace, QueueSettings } from '../shared/queues.ts'
import { openDatabase, watchPlace } from './file/database.ts'
import { tooLarge, unusable } from './messages.ts'
import { FileQueue } from './file/file-queue.ts'
import { QueueStore } from './file/store.ts'
import { boundedOrigin } from './item-limits.ts'
import type { ItemQueue } from './item-queue.ts'
import { LeftItems } from './left-items.ts'
import { StreamQueue } from './streams/stream-queue.ts'

export interface QueueHostParts {
  readonly settings: QueueSettings
  readonly calls: QueueCalls
  readonly log: Log
  readonly cells: (service: string) => QueueCells | undefined
  /** How long attempts may go on when the worker is replaced. Milliseconds. */
  readonly stopTimeout: number
}

/** Characters of an input. */
const maxInput = 1024 ** 2
/** Milliseconds between looks at a file that another owner has. */
const retryInterval = 50
/** Milliseconds that an item waits for the file. */
const fileTimeout = 10_000

/**
 * The service that owns the queue. If it is a file, the worker that replaces another one waits
 * until that has released it; so does a second process of the app.
 */
export class QueueHost {
  readonly implementation: Implementation
  readonly #parts: QueueHostParts
  /** How long attempts may go on at the end. Milliseconds. */
  #attemptTime: number
  readonly #stopped = new AbortController()
  #owner: ItemQueue | undefined
  #left: LeftItems | undefined
  #owning: Promise<void> = Promise.resolve()

  constructor(parts: QueueHostParts) {
    this.#parts = parts
    this.#attemptTime = parts.stopTimeout
    this.implementation = queueContract.implement(() => {
      this.#owner = this.#open()
      if (this.#owner === undefined) this.#owning = this.#waitForFile()
      return {
        add: (item: ItemRecord, context: Context) => this.#add(item, context),
        [Symbol.asyncDispose]: () => this.#close(),
      }
    })
  }

  async order(order: QueueOrder): Promise<unknown> {
    if (this.#owner === undefined) {
      if (order.kind === 'pause') return undefined
      throw this.#isTaken()
    }
    // The pause is their time.
    if (order.kind === 'pause' && order.handsOver === true) this.#attemptTime = 0
    return await this.#owner.order(order)
  }

  /** Undefined: another process owns the file. */
  #open(): ItemQueue | undefined {
    const { place } = this.#parts.settings
    if (place.is === 'streams') return this.#openStreams(place)
    const database = openDatabase(place.path)
    if (database === undefined) return undefined
    const file = place.path
    try {
      const store = new QueueStore(database)
      return new FileQueue({ ...this.#parts, file, store, isInPlace: watchPlace(file) })
    } catch (cause) {
      database.close()
      throw unusable(file, cause)
    }
  }

  #openStreams(place: Extract<QueuePlace, { is: 'streams' }>): ItemQueue {
    const queue = new StreamQueue({ ...this.#parts, place })
    this.#left = new LeftItems({ file: place.left, queue, log: this.#parts.log })
    return queue
  }

  get #file(): string {
    const { place } = this.#parts.settings
    return place.is === 'file' ? place.path : ''
  }

  /** Never rejects. */
  async #waitForFile(): Promise<void> {
    const { log } = this.#parts
    const { signal } = this.#stopped
    log.info(`the queue's file ${this.#file} is in use; this worker waits for it`)
    while (this.#owner === undefined && !signal.aborted) {
      await sleep(retryInterval, undefined, { signal }).catch(() => {})
      try {
        if (!signal.aborted) this.#owner = this.#open()
      } catch (error) {
        log.error((error as Error).message)
        await sleep(fileTimeout, undefined, { signal }).catch(() => {})
      }
    }
    if (this.#owner !== undefined) log.info(`this worker has the queue's file ${this.#file} now`)
  }

  async #add(item: ItemRecord, { caller, trace }: Context): Promise<Enqueued> {
    checkRecord(item)
    const { service, method, id, delay, input, metadata, contract } = item
    const target = `${service}.${method}`
    const origin = boundedOrigin(target, { caller, trace, metadata, contract })
    const { settings } = this.#parts
    const owner = this.#owner ?? (await this.#waitForOwner())
    const now = Date.now()
    return await owner.add({
      target,
      id: id ?? crypto.randomUUID(),
      until: id === undefined || settings.window === 0 ? undefined : now + settings.window,
      due: now + Math.round(delay),
      added: now,
      input,
      origin,
    })
  }

  async #waitForOwner(): Promise<ItemQueue> {
    const over = new AbortController()
    await Promise.race([this.#owning, sleep(fileTimeout, undefined, { signal: over.signal }).catch(() => {})])
    over.abort()
    if (this.#owner === undefined) throw this.#isTaken()
    return this.#owner
  }

  async #close(): Promise<void> {
    this.#stopped.abort()
    await this.#owning
    await this.#left?.close()
    await this.#owner?.close(this.#attemptTime)
  }

  #isTaken(): BusbarError {
    return new BusbarError('QUEUE_UNAVAILABLE', {
      message: `the queue's file ${this.#file} is in use by another process`,
      hint: 'Only one process of the app runs its queue. Stop the other one, or set queues.file.',
    })
  }
}

/** The types of the contract are no promise: services may call this over HTTP, too. */
function checkRecord({ service, method, id, delay, input, contract }: ItemRecord): void {
  const isName = (name: unknown): boolean => typeof name === 'string' && /^[^.\s]{1,128}$/.test(name)
  const fault = (field: string, message: string): never => {
    const text = `an item of ${queueContract.name} is refused: ${field}: ${message}`
    throw new BusbarError('INPUT_INVALID', { message: text, data: { issues: [{ path: [field], message }] } })
  }
  if (!isName(service)) fault('service', 'it is not the name of a service')
  if (!isName(method)) fault('method', 'it is not the name of a method')
  if (id !== undefined && (typeof id !== 'string' || id === '' || id.length > 256)) fault('id', 'it is not an id')
  // A file keeps texts in UTF-8, in which unpaired surrogates are all the same.
  if (id?.isWellFormed() === false) fault('id', 'it has an unpaired surrogate')
  if (typeof delay !== 'number' || !(delay >= 0 && delay < 2 ** 40))
    fault('delay', 'it is not a number of milliseconds')
  if (contract !== undefined && (typeof contract !== 'string' || !/^\w{1,64}$/.test(contract)))
    fault('contract', 'it does not describe a contract')
  if (input !== undefined && typeof input !== 'string') fault('input', 'it is not a text')
  if (input !== undefined && input.length > maxInput)
    throw tooLarge(`${service}.${method}`, 'input', input.length, 'characters', maxInput)
}
