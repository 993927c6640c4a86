/** The app's log: each line of a program or of Busbar is one entry on one stream. */
import type { Writable } from 'node:stream'
import type { App, LogFiles } from '../config/app.ts'
import type { LogRecord } from '../shared/control-messages.ts'
import { type LogEntry, type LogLevel, levelNumber, toEntry } from './log-entry.ts'
import { createJsonFormat, createPrettyFormat, type Format } from './log-format.ts'
import { LineWriter } from './line-writer.ts'
import { LogFile } from './log-files/log-file.ts'
import type { RecentLog } from './recent-log.ts'
import { Redactor } from './redactor.ts'

export type { LogLevel } from './log-entry.ts'

export interface Log {
  /** A line of a worker; `worker` undefined: a line of the main thread. */
  write(record: LogRecord & { readonly worker?: number | undefined }): void
  /** An event of Busbar itself. */
  event(level: LogLevel, msg: string, fields?: Readonly<Record<string, unknown>>): void
  /** Backpressure: the reader is slower than the writers, but not stalled. */
  readonly isBehind: boolean
  /**
   * From now on, writes as the config of the app says: to files too, and its secrets are hidden in
   * events. Those in records were hidden by the `LogIntake`.
   */
  use(app: Pick<App, 'logs' | 'secrets'>): Promise<void>
  /** Writes what is left to the files, and closes them. */
  close(): Promise<void>
  /** Resolves when all lines are written, after `timeout` milliseconds at the latest. */
  flush(timeout: number): Promise<void>
}

export interface LogOptions {
  readonly format: 'json' | 'pretty'
  /** Entries below this level are dropped. Default: `info`. */
  readonly level?: LogLevel
  /** Only for `pretty`. Default: false. */
  readonly colors?: boolean
  readonly stream: Writable
  /**
   * Bytes that are buffered for a slow reader; further lines are dropped and counted. Default: 1
   * MiB.
   */
  readonly limit?: number
  /** Gets one line if `stream` is a file on a full disk. Default: nothing does. */
  readonly fallback?: Writable
  /** Also gets each entry. */
  readonly recent?: RecentLog
}

export function createLog(options: LogOptions): Log {
  return new StreamLog(options)
}

class StreamLog implements Log {
  readonly #format: Format
  readonly #fileFormat: Format = createJsonFormat()
  readonly #least: number
  readonly #writer: LineWriter
  readonly #recent: RecentLog | undefined
  #redactor = new Redactor({ secrets: [], fields: [] })
  #file: LogFile | undefined
  #settings = ''
  /** Whether lines go to the stream. */
  #streams = true

  constructor(options: LogOptions) {
    const format = options.format === 'json' ? createJsonFormat() : createPrettyFormat(options.colors ?? false)
    this.#format = format
    this.#recent = options.recent
    this.#least = levelNumber(options.level ?? 'info')
    this.#writer = new LineWriter(options.stream, {
      ...(options.limit !== undefined && { limit: options.limit }),
      notice: (dropped) =>
        format(ownEntry('warn', `${dropped} log lines dropped: the output is read too slowly`, { dropped })),
      failed: ({ message }) => this.#outputFailed(message, options.fallback),
      missing: (lines) =>
        format(ownEntry('warn', `${lines} log lines are missing: the output could not be written`, { lines })),
    })
    // It may be the same file.
    options.fallback?.on('error', () => {})
  }

  get isBehind(): boolean {
    return this.#writer.isBehind
  }

  write(record: LogRecord & { readonly worker?: number | undefined }): void {
    if (record.line.trim() !== '') this.#add(toEntry(record, record.worker))
  }

  event(level: LogLevel, msg: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#add(ownEntry(level, this.#redactor.text(msg), fields && this.#redactor.fields(fields)))
  }

  async use({ logs, secrets = [] }: Pick<App, 'logs' | 'secrets'>): Promise<void> {
    this.#redactor = new Redactor({ secrets, fields: [] })
    const files = logs?.files
    this.#streams = files === undefined || logs?.stdout !== false
    const settings = JSON.stringify(files)
    if (settings === this.#settings) return
    this.#settings = settings
    const before = this.#file
    this.#file = files && this.#open(files)
    await before?.close()
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    this.#streams = true
    await file?.close()
  }

  flush(timeout: number): Promise<void> {
    this.#file?.flush()
    return this.#writer.flush(timeout)
  }

  #add(entry: LogEntry): void {
    if (entry.level < this.#least) return
    if (this.#streams) this.#writer.write(this.#format(entry))
    this.#file?.write(this.#fileFormat(entry))
    this.#recent?.add(entry)
  }

  #open(settings: LogFiles): LogFile {
    return new LogFile({
      settings,
      failed: ({ message }) => {
        const entry = ownEntry('error', `the log files cannot be written until this is fixed: ${message}`)
        this.#stream(entry)
        // Nobody sees the stream of an app in the background.
        this.#recent?.add(entry)
      },
      // Where the stream does not get the lines anyway, it is where they go now.
      lost: (lines) => {
        if (!this.#streams) for (const line of lines) this.#writer.write(line)
      },
      missing: (lines) =>
        this.#fileFormat(ownEntry('warn', `${lines} log lines are missing: this file could not be written`, { lines })),
    })
  }

  #outputFailed(message: string, fallback: Writable | undefined): void {
    const entry = ownEntry('error', `log lines are lost until the output can be written again: ${message}`)
    this.#file?.write(this.#fileFormat(entry))
    this.#recent?.add(entry)
    if (fallback?.writable === true) fallback.write(this.#format(entry))
  }

  #stream(entry: LogEntry): void {
    this.#writer.write(this.#format(entry))
  }
}

function ownEntry(level: LogLevel, msg: string, fields?: Readonly<Record<string, unknown>>): LogEntry {
  const content = { kind: 'text' as const, msg, ...(fields !== undefined && { fields }) }
  return { level: levelNumber(level), time: Date.now(), service: undefined, worker: undefined, content }
}
