import type { FromWorker, LogRecord } from '../shared/control.ts'
import { costOf, type OutputWindow } from '../shared/output-window.ts'

/** What this worker says to the supervisor, in the order it is said. */
export interface Outbox {
  post(message: FromWorker): void
  /** Lines of a busy moment leave together. */
  log(record: LogRecord): void
  /** Sends all that waits, also beyond the window: the worker is about to end. */
  flush(): void
}

/** How output is held back while the supervisor has not read what was sent before. */
export interface OutputFlow {
  readonly window: OutputWindow
  /** The thread is blocked meanwhile. Otherwise lines wait here, and those beyond {@link backlogLimit} are dropped. */
  readonly blocks: boolean
}

/** Milliseconds without a line, after which the next one leaves at once. */
const quiet = 20
/** So many lines, or bytes, leave even if the event loop does not come to it. */
const batchLimit = 1000
const batchSize = 128 * 1024
/** Bytes that wait in a worker that is not blocked. */
const backlogLimit = 4 * 1024 * 1024
/** How often a worker that is not blocked looks whether there is room again, in milliseconds. */
const retryInterval = 10
/** Milliseconds between two notices of dropped lines. */
const noticeInterval = 1000

/** After these the worker ends, so that lines cannot wait. */
const lastMessages: ReadonlySet<FromWorker['type']> = new Set(['fault', 'failed', 'stopped'])

/** `clock` tells milliseconds; without `flow` whatever is said leaves. */
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
 * Posting a line costs microseconds here and a wake-up there, so lines are gathered until the event loop has been
 * through its events; but the first after a pause leaves at once: it may be the last before an endless loop.
 */
class BatchingOutbox implements Outbox {
  readonly #send: (message: FromWorker) => void
  readonly #clock: () => number
  readonly #flow: OutputFlow | undefined
  /** Full ones, and the one that is being filled. */
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
    if (isFull(batch) || (!this.#scheduled && this.#clock() - this.#sentAt > quiet)) return this.#sendSome()
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#sendSome())
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

  #sendSome(): void {
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
      this.#sendSome()
    }, retryInterval).unref()
  }

  #drop({ service }: LogRecord): void {
    this.#dropped.set(service, (this.#dropped.get(service) ?? 0) + 1)
    this.#sendSome()
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
