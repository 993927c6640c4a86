/**
 * Timeouts of calls in flight. They are refreshed with every chunk and almost never expire, so a
 * `setTimeout` each (0.4 µs) would be too expensive. Calls with equal limits share a queue, oldest
 * first, and one timer checks the head of each queue. Limits have a precision of one second, like
 * undici's.
 */
export interface Deadline {
  expire(): void
}

interface Entry {
  readonly queue: Queue
  due: number
  owner: Deadline | undefined
  previous: Entry
  next: Entry
}

/** A ring. Its head is no entry. */
interface Queue {
  readonly limit: number
  readonly head: Entry
}

export type RunningDeadline = Entry

/** Clock of long limits, updated once a second: reading the time costs as much as all the rest. */
let now = 0
const precision = 1000

const queues = new Map<number, Queue>()
let timer: NodeJS.Timeout | undefined

/** `limit` in milliseconds; 0 is no limit. */
export function startDeadline(limit: number, owner: Deadline): RunningDeadline | undefined {
  if (limit === 0) return undefined
  let queue = queues.get(limit)
  if (timer === undefined) now = performance.now()
  if (queue === undefined) queues.set(limit, (queue = createQueue(limit)))
  const entry: Entry = { queue, due: 0, owner, previous: queue.head, next: queue.head }
  append(entry)
  watch(limit)
  return entry
}

export function refreshDeadline(entry: RunningDeadline): void {
  if (entry.owner === undefined) return
  unlink(entry)
  append(entry)
}

export function clearDeadline(entry: RunningDeadline | undefined): void {
  if (entry?.owner === undefined) return
  entry.owner = undefined
  unlink(entry)
}

function append(entry: Entry): void {
  const { head, limit } = entry.queue
  entry.due = limit < precision ? performance.now() + limit : now + precision + limit
  entry.previous = head.previous
  entry.next = head
  head.previous.next = entry
  head.previous = entry
}

function unlink(entry: Entry): void {
  entry.previous.next = entry.next
  entry.next.previous = entry.previous
}

function createQueue(limit: number): Queue {
  const head = { due: Infinity, owner: undefined } as unknown as Entry
  head.previous = head
  head.next = head
  return { limit, head }
}

/** The timer runs while there are limits, at least once per `precision`. */
function watch(limit: number): void {
  if (timer !== undefined && limit >= precision) return
  clearTimeout(timer)
  timer = setTimeout(look, Math.min(limit, precision))
  timer.unref()
}

function look(): void {
  timer = undefined
  now = performance.now()
  let shortest = Infinity
  for (const queue of queues.values()) {
    expireUntil(queue, now)
    if (queue.head.next === queue.head) queues.delete(queue.limit)
    else shortest = Math.min(shortest, Math.max(1, queue.head.next.due - now))
  }
  if (shortest !== Infinity && timer === undefined) watch(Math.min(shortest, precision))
}

function expireUntil(queue: Queue, now: number): void {
  for (let entry = queue.head.next; entry.due <= now; entry = queue.head.next) {
    const owner = entry.owner
    clearDeadline(entry)
    owner?.expire()
  }
}
