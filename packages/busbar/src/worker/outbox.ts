import type { FromWorker, LogRecord } from '../shared/control.ts'

/** What this worker says to the supervisor, in the order it is said. */
export interface Outbox {
  post(message: FromWorker): void
  /** Lines of a busy moment leave together. */
  log(record: LogRecord): void
  flush(): void
}

/** Milliseconds without a line, after which the next one leaves at once. */
const quiet = 20
/** So many lines leave even if the event loop does not come to it. */
const batchLimit = 1000

/**
 * Posting a line costs microseconds here and a wake-up there, so lines are gathered until the event loop has been
 * through its events; but the first after a pause leaves at once: it may be the last before an endless loop.
 * `clock` tells milliseconds.
 */
export function createOutbox(
  send: (message: FromWorker) => void,
  clock: () => number = () => performance.now(),
): Outbox {
  let records: LogRecord[] = []
  let sent = -Infinity
  let scheduled = false
  const flush = (): void => {
    scheduled = false
    if (records.length === 0) return
    const batch = records
    records = []
    sent = clock()
    send({ type: 'log', records: batch })
  }
  return {
    flush,
    post(message) {
      flush()
      send(message)
    },
    log(record) {
      records.push(record)
      if (records.length >= batchLimit || (!scheduled && clock() - sent > quiet)) return flush()
      if (scheduled) return
      scheduled = true
      setImmediate(flush)
    },
  }
}
