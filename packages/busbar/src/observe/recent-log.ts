/** The last entries of the log, in memory, for `busbar logs`. */
import { randomBytes } from 'node:crypto'
import type { LogEntry } from './log-entry.ts'
import { createJsonFormat } from './log-format.ts'

export interface RecentLogOptions {
  /** Entries that are kept. Default: 5,000. */
  readonly entries?: number
  /** Their approximate size in bytes. Default: 2 MiB. */
  readonly bytes?: number
}

export interface LogFilter {
  readonly service?: string | undefined
  /** The least level, as pino's number. */
  readonly level?: number | undefined
  /** Milliseconds since 1970. */
  readonly since?: number | undefined
}

export interface LogReading extends LogFilter {
  /** Only the last of the entries that match. */
  readonly limit: number
  /** Whether to wait for further entries until `signal` aborts. */
  readonly follow: boolean
  /** With `follow`: whether an empty line comes between the kept entries and further ones. */
  readonly mark?: boolean
  readonly signal: AbortSignal
}

/** What one call of {@link RecentLog.readAfter} reads. */
export interface LogPage {
  /** Lines of JSON as on standard output, the oldest first. */
  readonly lines: readonly string[]
  /** When each was printed: milliseconds since 1970. The time in a line is its program's own. */
  readonly times: readonly number[]
  /** Entries since the position that are not among them. */
  readonly dropped: number
  /** For the next call. Means nothing to another log, such as that of a later run. */
  readonly position: string
}

/** Lines that wait for a slow reader; further ones are dropped and counted. */
const maxWaiting = 10_000

/** What an entry takes in memory besides its text. */
const overhead = 100

/** Keeps the last entries within bounds of number and size. */
export class RecentLog {
  readonly #id = randomBytes(6).toString('hex')
  readonly #most: number
  readonly #mostBytes: number
  /** A ring: `#next` is the position of the next entry, and of the oldest one once it is full. */
  readonly #entries: (LogEntry | undefined)[]
  #next = 0
  #oldest = 0
  #bytes = 0
  readonly #followers = new Set<Follower>()

  constructor({ entries = 5000, bytes = 2 * 1024 ** 2 }: RecentLogOptions = {}) {
    this.#most = entries
    this.#mostBytes = bytes
    this.#entries = Array.from({ length: entries })
  }

  add(entry: LogEntry): void {
    if (this.#next - this.#oldest === this.#most) this.#drop()
    this.#entries[this.#next++ % this.#most] = entry
    this.#bytes += sizeOf(entry)
    while (this.#bytes > this.#mostBytes && this.#next - this.#oldest > 1) this.#drop()
    for (const follower of this.#followers) follower.add(entry)
  }

  /** Lines of JSON as on standard output, the oldest first. */
  async *read({ limit, follow, mark = false, signal, ...filter }: LogReading): AsyncGenerator<string> {
    const format = createJsonFormat()
    // Before the kept entries are read: nothing is missed in between.
    using follower = follow ? this.#follow(filter, signal) : undefined
    for (const entry of this.#matching(filter, limit)) yield format(entry)
    if (follower === undefined) return
    if (mark) yield '\n'
    for (;;) {
      const taken = await follower.take()
      if (taken === undefined) return
      if (taken.dropped > 0) yield format(droppedEntry(taken.dropped))
      for (const entry of taken.entries) yield format(entry)
    }
  }

  /**
   * The entries after a position of an earlier call: the last `limit` of those that match. Nothing
   * waits in memory for a reader that comes back late.
   */
  readAfter(position: string | undefined, filter: LogFilter, limit: number): LogPage {
    const format = createJsonFormat()
    const from = this.#indexOf(position)
    const found = this.#matching(filter, Infinity, Math.max(from ?? 0, this.#oldest))
    const shown = found.slice(-limit)
    const passed = from === undefined ? 0 : Math.max(0, this.#oldest - from)
    return {
      lines: shown.map((entry) => format(entry).trimEnd()),
      times: shown.map(({ time }) => time),
      dropped: from === undefined ? 0 : passed + found.length - shown.length,
      position: `${this.#id}-${this.#next}`,
    }
  }

  /** Undefined: the position is of another log. */
  #indexOf(position: string | undefined): number | undefined {
    const [id, index] = position?.split('-') ?? []
    return id === this.#id && Number(index) <= this.#next ? Number(index) : undefined
  }

  /** Whether it has a line of the service. */
  has(service: string): boolean {
    return this.#matching({ service }, 1).length > 0
  }

  #matching(filter: LogFilter, limit: number, first = this.#oldest): LogEntry[] {
    const found: LogEntry[] = []
    for (let at = this.#next - 1; at >= first && found.length < limit; at--) {
      const entry = this.#entries[at % this.#most]!
      if (matches(entry, filter)) found.push(entry)
    }
    return found.toReversed()
  }

  #follow(filter: LogFilter, signal: AbortSignal): Follower {
    const follower = new Follower(filter, signal, () => this.#followers.delete(follower))
    this.#followers.add(follower)
    return follower
  }

  #drop(): void {
    const at = this.#oldest++ % this.#most
    this.#bytes -= sizeOf(this.#entries[at]!)
    this.#entries[at] = undefined
  }
}

interface Taken {
  readonly entries: readonly LogEntry[]
  readonly dropped: number
}

/** The entries that one reader has not taken yet. */
class Follower implements Disposable {
  readonly #filter: LogFilter
  readonly #signal: AbortSignal
  readonly #closed: () => void
  #waiting: LogEntry[] = []
  #dropped = 0
  #wake: () => void = () => {}

  constructor(filter: LogFilter, signal: AbortSignal, closed: () => void) {
    this.#filter = filter
    this.#signal = signal
    this.#closed = closed
    signal.addEventListener('abort', () => this.#wake(), { once: true })
  }

  add(entry: LogEntry): void {
    if (!matches(entry, this.#filter)) return
    if (this.#waiting.length < maxWaiting) this.#waiting.push(entry)
    else this.#dropped++
    this.#wake()
  }

  /** Resolves to the entries since the last time; undefined when the reader has gone. */
  async take(): Promise<Taken | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#signal.aborted) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
    const taken = { entries: this.#waiting, dropped: this.#dropped }
    this.#waiting = []
    this.#dropped = 0
    return taken
  }

  [Symbol.dispose](): void {
    this.#closed()
  }
}

function matches(entry: LogEntry, { service, level, since }: LogFilter): boolean {
  if (service !== undefined && entry.service !== service) return false
  return (level === undefined || entry.level >= level) && (since === undefined || entry.time >= since)
}

function sizeOf({ content }: LogEntry): number {
  return overhead + (content.kind === 'json' ? content.text.length : content.msg.length)
}

function droppedEntry(dropped: number): LogEntry {
  const msg = `${dropped} log lines are not shown: they came faster than they were read`
  const content = { kind: 'text' as const, msg, fields: { dropped } }
  return { level: 40, time: Date.now(), service: undefined, worker: undefined, content }
}
