/** The app's log: every line that a program or Busbar says, as one event each, on one stream. */
import type { Writable } from 'node:stream'
import type { LogRecord } from '../shared/control.ts'
import { type LogEntry, type LogLevel, levelNumber, toEntry } from './entry.ts'
import { createJsonFormat, createPrettyFormat } from './format.ts'
import { Outlet } from './outlet.ts'

export { type LogLevel, logLevels } from './entry.ts'

export interface Log {
  /** A line of a worker's programs, or of the main thread where `worker` is undefined. */
  write(record: LogRecord & { readonly worker?: number | undefined }): void
  /** An event of Busbar itself, with what it is about. */
  event(level: LogLevel, msg: string, fields?: Readonly<Record<string, unknown>>): void
  /** Its reader is slower than what is written, but it reads. */
  readonly isBehind: boolean
  /** Resolves when all lines have left, at the latest after `timeout` milliseconds. */
  flush(timeout: number): Promise<void>
}

export interface LogOptions {
  readonly format: 'json' | 'pretty'
  /** What is below this level is left out. Default `info`. */
  readonly level?: LogLevel
  /** Only for `pretty`. Default false. */
  readonly colors?: boolean
  readonly stream: Writable
  /** Bytes that may wait for a slow reader; what comes beyond is dropped and counted. Default 1 MiB. */
  readonly limit?: number
}

export function createLog(options: LogOptions): Log {
  const format = options.format === 'json' ? createJsonFormat() : createPrettyFormat(options.colors ?? false)
  const least = levelNumber(options.level ?? 'info')
  const outlet = new Outlet(options.stream, {
    ...(options.limit !== undefined && { limit: options.limit }),
    notice: (dropped) =>
      format(ownEntry('warn', `${dropped} log lines dropped: the output is read too slowly`, { dropped })),
  })
  const add = (entry: LogEntry): void => {
    if (entry.level >= least) outlet.write(format(entry))
  }
  return {
    write(record) {
      if (record.line.trim() !== '') add(toEntry(record, record.worker))
    },
    event(level, msg, fields) {
      add(ownEntry(level, msg, fields))
    },
    get isBehind() {
      return outlet.isBehind
    },
    flush: (timeout) => outlet.flush(timeout),
  }
}

function ownEntry(level: LogLevel, msg: string, fields?: Readonly<Record<string, unknown>>): LogEntry {
  const content = { kind: 'text' as const, msg, ...(fields !== undefined && { fields }) }
  return { level: levelNumber(level), time: Date.now(), service: undefined, worker: undefined, content }
}
