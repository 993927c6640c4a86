import type { FromWorker, LogRecord } from '../../shared/control-messages.ts'
import { costOf, type OutputWindow } from '../../shared/output/output-window.ts'

/** Sends messages and log lines to the supervisor, in order. */
export interface Outbox {
  post(message: FromWorker): void
  /** Lines in quick succession are sent in one batch. */
  log(record: LogRecord): void
  /** Sends everything that waits, even beyond the window, because the worker is about to end. */
  flush(): void
}

/** Backpressure while the supervisor has not read what was sent before. */
export interface OutputFlow {
  readonly window: OutputWindow
  /**
   * True: blocks the thread. False: lines wait, and those beyond {@link backlogLimit} are dropped.
   */
  readonly blocks: boolean
}

/** Milliseconds without a line after which the next one is sent at once. */
const quiet = 20
/** A batch of this many lines, or bytes, is sent without waiting for the event loop. */
const batchLimit = 1000
const batchSize = 128 * 1024
/** Bytes that may wait in a worker that does not block. */
const backlogLimit = 4 * 1024 * 1024
/** Milliseconds after which a worker that does not block checks for room again. */
const retryInterval = 10
/** Milliseconds between two notices of dropped lines. */
const noticeInterval = 1000

/** The worker ends after one of these, so lines must be sent before it. */
const lastMessages: ReadonlySet<FromWorker['type']> = new Set(['fault', 'failed', 'stopped'])

/** `clock` returns milliseconds. Without `flow` there is no backpressure. */
export function createOutbox(
  send: (message: FromWorker) => void,
  clock: () => number = () => performance.now(),
  flow?: OutputFlow,
): Outbox {
  return new BatchingOutbox(send, clock, flow)
}

interface Batch {
  records: LogRecord[]
  size: number
}

/**
 * Posting a line costs microseconds here and a wake-up in the supervisor, so lines are batched
 * until the end of the event loop's turn. The first line after a pause is sent at once: it may be
 * the last one before an endless loop.
 */
class BatchingOutbox implements Outbox {
  readonly #send: (message: FromWorker) => void
  readonly #clock: () => number
  readonly #flow: OutputFlow | undefined
  /** Full batches, then the one that is being filled. */
  #batches: Batch[] = []
  #waiting = 0
  #sentAt = -Infinity
  #scheduled = false
  #retries = false
  #dropped = new Map<string | undefined, number>()
  #noticedAt = -Infinity

  constructor(send: (message: FromWorker) => void, clock: () => number, flow: OutputFlow | undefined) {
    this.#send = send
    this.#clock = clock
    this.#flow = flow
  }

  post(message: FromWorker): void {
    if (lastMessages.has(message.type)) this.flush()
    else this.#sendBatches((size) => this.#flow?.window.fits(size) ?? true)
    this.#send(message)
  }

  log(record: LogRecord): void {
    const cost = costOf(record)
    if (this.#flow?.blocks === false && this.#waiting + cost > backlogLimit) return this.#drop(record)
    const batch = this.#add(record, cost)
    if (isFull(batch) || (!this.#scheduled && this.#clock() - this.#sentAt > quiet)) return this.#sendBacklog()
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#sendBacklog())
  }

  flush(): void {
    this.#sendBatches(() => true)
    this.#noticeDropped()
  }

  #add(record: LogRecord, cost: number): Batch {
    let batch = this.#batches.at(-1)
    if (batch === undefined || isFull(batch)) {
      batch = { records: [], size: 0 }
      this.#batches.push(batch)
    }
    batch.records.push(record)
    batch.size += cost
    this.#waiting += cost
    return batch
  }

  #sendBacklog(): void {
    this.#scheduled = false
    const { window, blocks } = this.#flow ?? {}
    this.#sendBatches((size) => {
      if (blocks === true) window!.wait(size)
      return window?.fits(size) ?? true
    })
    if (this.#waiting > 0) this.#retryLater()
    else if (this.#clock() - this.#noticedAt > noticeInterval) this.#noticeDropped()
  }

  #sendBatches(mayLeave: (size: number) => boolean): void {
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      const { records, size } = batch
      if (!mayLeave(size)) return
      this.#batches.shift()
      this.#waiting -= size
      this.#sentAt = this.#clock()
      this.#flow?.window.sent(size)
      this.#send({ type: 'log', records })
    }
  }

  #retryLater(): void {
    if (this.#retries) return
    this.#retries = true
    setTimeout(() => {
      this.#retries = false
      this.#sendBacklog()
    }, retryInterval).unref()
  }

  #drop({ service }: LogRecord): void {
    this.#dropped.set(service, (this.#dropped.get(service) ?? 0) + 1)
    this.#sendBacklog()
  }

  #noticeDropped(): void {
    if (this.#dropped.size === 0) return
    const time = Date.now()
    const records = [...this.#dropped].map(([service, count]): LogRecord => {
      const line = `${count} log lines dropped: ${service ?? 'this worker'} writes faster than they can be read`
      return { time, level: 'warn', service, stream: 'busbar', line }
    })
    this.#dropped.clear()
    this.#noticedAt = this.#clock()
    this.#send({ type: 'log', records })
  }
}

function isFull({ records, size }: Batch): boolean {
  return records.length >= batchLimit || size >= batchSize
}
