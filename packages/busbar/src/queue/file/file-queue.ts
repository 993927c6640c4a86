import { BusbarError } from '../../contract/errors.ts'
import type { Log } from '../../contract/context.ts'
import type { Enqueued } from '../../contract/queues/enqueue.ts'
import type { QueueCalls } from '../../mesh/typed/queue-calls.ts'
import type { MethodQueueSettings, QueueList, QueueOrder, QueueSettings } from '../../shared/queues.ts'
import type { QueueCells } from '../../shared/metrics/queue-cells.ts'
import { RepeatedLines } from '../../shared/output/repeated-lines.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import { type ItemQueue, type ItemToAdd, splitTarget } from '../item-queue.ts'
import { buriedText, closed, deleted, failedText, full, unwritable } from '../messages.ts'
import { listCounts, QueueMeter } from '../queue-meter.ts'
import { delayAfter, type Failed, type Outcome, runItem } from '../run-item.ts'
import { ClockSteps } from './clock-steps.ts'
import { type ClaimedItem, type QueueStore, toRow } from './store.ts'

export interface FileQueueParts {
  readonly store: QueueStore
  /** Absolute path, for messages. */
  readonly file: string
  /** False once it was deleted or replaced. */
  readonly isInPlace: () => boolean
  readonly settings: QueueSettings
  readonly calls: QueueCalls
  readonly log: Log
  /** Undefined for a service that the app does not have any more. */
  readonly cells: (service: string) => QueueCells | undefined
}

interface Adding {
  readonly item: ItemToAdd
  readonly answer: PromiseWithResolvers<Enqueued>
}

interface Ended {
  readonly item: ClaimedItem
  readonly outcome: Outcome
}

/** Items that run at a time, of all methods together: each holds its input in memory. */
const mostRunning = 1_000
/** Milliseconds between looks at a service that does not serve, and after a failed commit. */
const pause = 250
/** The longest timer. The system's clock may be set. */
const longestWait = 30_000

/**
 * Owns the items of an app: adds them, runs them and keeps what became of them. All that has come
 * together in one turn of the event loop is one transaction, so that one fsync serves many. The
 * file changes in no other place, and nothing is answered or begun before its commit.
 */
export class FileQueue implements ItemQueue {
  readonly #parts: FileQueueParts
  readonly #meter: QueueMeter
  #adding: Adding[] = []
  #ended: Ended[] = []
  /** By method: attempts that run. */
  readonly #running = new Map<string, number>()
  #attempts = 0
  #isScheduled = false
  #isPaused = false
  #isClosed = false
  #gone: BusbarError | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #clock: ClockSteps
  /** Logs and counts what a transaction changes, once it is on disk. */
  #notes: (() => void)[] = []
  #idle = Promise.withResolvers<void>()
  readonly #unwritten: RepeatedLines

  constructor(parts: FileQueueParts) {
    this.#parts = parts
    this.#clock = new ClockSteps(parts.store)
    this.#meter = new QueueMeter(parts.cells)
    this.#unwritten = new RepeatedLines((level, line) => parts.log[level](line))
    this.#recover()
    this.#meter.show(parts.store.tally.targets)
    this.#schedule()
  }

  add(item: ItemToAdd): Promise<Enqueued> {
    if (this.#isClosed) return Promise.reject(closed())
    const answer = Promise.withResolvers<Enqueued>()
    this.#adding.push({ item, answer })
    this.#schedule()
    return answer.promise
  }

  async order(order: QueueOrder): Promise<unknown> {
    if (order.kind === 'list') return this.#list(order)
    if (order.kind === 'pause') return await this.pause(order.limit)
    const { store } = this.#parts
    const { kind, number } = order
    const now = Date.now()
    try {
      return this.#clock.transaction(now, () => store.changeDead(kind, number, now))
    } catch (cause) {
      throw unwritable(this.#parts.file, cause)
    } finally {
      this.#schedule()
    }
  }

  /**
   * No attempt begins any more. Resolves when none runs, at the latest after `limit` milliseconds.
   */
  async pause(limit: number): Promise<void> {
    this.#isPaused = true
    if (this.#attempts > 0) await settlesWithin(limit, [this.#idle.promise])
    if (!this.#isClosed) this.#flush()
  }

  async close(limit: number): Promise<void> {
    await this.pause(limit)
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#unwritten.close()
    for (const { answer } of this.#adding.splice(0)) answer.reject(closed())
    this.#parts.store.close()
  }

  #list({ limit, isCheck }: Extract<QueueOrder, { kind: 'list' }>): QueueList {
    const { store, file } = this.#parts
    if (isCheck) store.check(file, this.#whyGone())
    return { queues: listCounts(store.tally.targets), dead: store.deadLetters(limit) }
  }

  /** In a later turn, when what has arrived together is complete. */
  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (!this.#isClosed) this.#flush()
    })
  }

  #flush(): void {
    const { store } = this.#parts
    const now = Date.now()
    const [adding, ended] = [this.#adding.splice(0), this.#ended.splice(0)]
    const gone = adding.length > 0 ? this.#whyGone() : undefined
    try {
      const { answers, claimed } = this.#clock.transaction(now, () => {
        for (const one of ended) this.#keepOutcome(one, now)
        const answers = adding.map(({ item }) => gone ?? this.#addItem(item))
        store.prune(now)
        return { answers, claimed: this.#claim(now) }
      })
      this.#takeNotes()
      if (adding.length + ended.length + claimed.length > 0) this.#unwritten.close()
      for (const [at, { answer }] of adding.entries()) settle(answer, answers[at]!)
      for (const item of claimed) this.#begin(item)
      this.#wait(now)
    } catch (cause) {
      // Nothing has changed in the file. What has ended is written later.
      this.#notes = []
      this.#ended.unshift(...ended)
      const error = unwritable(this.#parts.file, cause)
      this.#unwritten.add('error', error.message)
      for (const { answer } of adding) answer.reject(error)
      this.#wake(pause)
    }
    this.#meter.show(store.tally.targets)
  }

  /** The items that it has still run, as long as this process has the file open. */
  #whyGone(): BusbarError | undefined {
    const { isInPlace, file, log } = this.#parts
    if (this.#gone !== undefined || isInPlace()) return this.#gone
    this.#gone = deleted(file)
    log.error(this.#gone.message)
    return this.#gone
  }

  #addItem(item: ItemToAdd): Enqueued | BusbarError {
    const { store, settings } = this.#parts
    const { depth, size } = store.tally
    if (depth >= settings.maxDepth) return full(item.target, `${depth} items wait or run, which is queues.maxDepth`)
    const row = toRow(item)
    const total = size + row.size
    if (total > settings.maxSize)
      return full(item.target, `with it, its items have ${total} bytes, and queues.maxSize is ${settings.maxSize}`)
    const isNew = store.add(row)
    this.#notes.push(() => this.#meter.count(item.target, isNew ? 'enqueued' : 'duplicates'))
    return { id: item.id, duplicate: !isNew }
  }

  #claim(now: number): ClaimedItem[] {
    if (this.#isPaused) return []
    const { store, calls } = this.#parts
    const claimed: ClaimedItem[] = []
    for (const [target, { waiting }] of store.tally.targets) {
      const room = Math.min(this.#roomOf(target), mostRunning - this.#attempts - claimed.length)
      if (waiting === 0 || room <= 0) continue
      const [service] = splitTarget(target)
      // An attempt at a service that is gone fails, and says why.
      if (calls.serves(service) || !calls.isKnown(service)) claimed.push(...store.claim(target, now, room))
    }
    return claimed
  }

  #roomOf(target: string): number {
    return this.#settingsOf(target).concurrency - (this.#running.get(target) ?? 0)
  }

  #begin(item: ClaimedItem): void {
    const { target } = item
    if (this.#attempts++ === 0) this.#idle = Promise.withResolvers()
    this.#running.set(target, (this.#running.get(target) ?? 0) + 1)
    this.#meter.count(target, 'attempts')
    void runItem(item, this.#parts.calls, this.#settingsOf(target), 'file').then((outcome) => {
      const left = this.#running.get(target)! - 1
      if (left === 0) this.#running.delete(target)
      else this.#running.set(target, left)
      this.#ended.push({ item, outcome })
      if (--this.#attempts === 0) this.#idle.resolve()
      this.#schedule()
    })
  }

  #keepOutcome({ item, outcome }: Ended, now: number): void {
    const { store, log } = this.#parts
    if (outcome.is === 'done') return store.complete(item)
    const { target, attempt } = item
    const { why } = outcome
    const settings = this.#settingsOf(target)
    this.#notes.push(() => this.#meter.count(target, 'failures'))
    if (outcome.final || attempt >= settings.attempts) return this.#bury(item, now, outcome)
    const delay = delayAfter(attempt, settings)
    store.postpone(item, now + delay, why)
    this.#notes.push(() => log.warn(failedText(item, delay, why)))
  }

  #bury(item: Pick<ClaimedItem, 'number' | 'target' | 'attempt'>, now: number, { why }: Failed): void {
    const { store, log, settings } = this.#parts
    const { number, target } = item
    const dropped = store.bury(item, now, why, settings.keepDead)
    this.#notes.push(() => {
      this.#meter.count(target, 'buried')
      log.error(buriedText(item, number, why))
      if (dropped > 0)
        log.warn(`queue: ${dropped} older dead letters were deleted: queues.keepDead is ${settings.keepDead}`)
    })
  }

  /** Items that ran when the last owner ended: nobody knows how far they came. */
  #recover(): void {
    const { store } = this.#parts
    const now = Date.now()
    const why = { code: 'WORKER_DIED', message: 'the app, or the worker of its queue, ended during the attempt' }
    store.transaction(() => {
      store.bringUpTo(now)
      for (const item of store.interrupted()) {
        const settings = this.#settingsOf(item.target)
        if (item.attempt >= settings.attempts) this.#bury(item, now, { is: 'failed', why, final: false })
        else store.postpone(item, now + delayAfter(item.attempt, settings), why)
      }
    })
    this.#takeNotes()
  }

  #takeNotes(): void {
    for (const note of this.#notes.splice(0)) note()
  }

  /** Until an item is due, or a service serves. */
  #wait(now: number): void {
    const { store, calls } = this.#parts
    if (this.#isPaused) return
    let wait = longestWait
    for (const [target, { waiting }] of store.tally.targets) {
      if (waiting === 0 || this.#roomOf(target) <= 0) continue
      const [service] = splitTarget(target)
      const isReady = calls.serves(service) || !calls.isKnown(service)
      // What is due has been claimed, unless there was no room for more.
      const due = isReady ? (store.nextDue(target) ?? Infinity) - now : pause
      wait = Math.min(wait, Math.max(due, this.#attempts < mostRunning ? 1 : pause))
    }
    this.#wake(wait)
  }

  #wake(wait: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#schedule(), wait)
  }

  #settingsOf(target: string): MethodQueueSettings {
    const { methods, usual } = this.#parts.settings
    return methods[target] ?? usual
  }
}

function settle(answer: PromiseWithResolvers<Enqueued>, result: Enqueued | BusbarError): void {
  if (result instanceof BusbarError) answer.reject(result)
  else answer.resolve(result)
}
