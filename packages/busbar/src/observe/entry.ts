/** One event of the log, before it is written down: what a program printed, brought to pino's shape. */
import { pino } from 'pino'
import type { LogRecord } from '../shared/control.ts'
import { isWarning } from '../shared/stderr-level.ts'

export type LogLevel = LogRecord['level']

export const logLevels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

export interface LogEntry {
  /** Pino's number: 30 is info. */
  readonly level: number
  readonly time: number
  readonly service: string | undefined
  readonly worker: number | undefined
  readonly content: TextContent | JsonContent
}

/** A plain line, or an event of Busbar itself with what it is about. */
export interface TextContent {
  readonly kind: 'text'
  readonly msg: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/** A line that a program's own logger wrote. `text` is the line as it came, which keeps what parsing would lose. */
export interface JsonContent {
  readonly kind: 'json'
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>>
}

export function levelNumber(level: LogLevel): number {
  return pino.levels.values[level]!
}

export function toEntry(record: LogRecord, worker: number | undefined): LogEntry {
  const { time, service, line } = record
  if (record.stream !== 'busbar' && line.startsWith('{')) {
    const fields = parsePino(line)
    if (fields !== undefined) {
      const level = levelOf(fields['level']) ?? levelNumber(record.level)
      return { level, time, service, worker, content: { kind: 'json', text: line.trimEnd(), fields } }
    }
  }
  return { level: plainLevel(record), time, service, worker, content: { kind: 'text', msg: line } }
}

/** The object of a line of pino's shape: a known level, and a message or a time. */
function parsePino(line: string): Record<string, unknown> | undefined {
  const parsed = parseObject(line)
  if (parsed === undefined || levelOf(parsed['level']) === undefined) return undefined
  const [msg, time] = [typeof parsed['msg'], typeof parsed['time']]
  if (msg === 'undefined' && time === 'undefined') return undefined
  const shaped = ['string', 'undefined'].includes(msg) && ['number', 'string', 'undefined'].includes(time)
  return shaped ? parsed : undefined
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    // Starts with a brace: an object or an error.
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Pino writes numbers, and labels where a program's `formatters.level` says so. */
function levelOf(level: unknown): number | undefined {
  if (typeof level === 'number') return level
  return typeof level === 'string' ? pino.levels.values[level.toLowerCase()] : undefined
}

/**
 * Standard output is `info`. Standard error is `error`, since `console.error` is its main writer and a filter on
 * errors must not hide a stack; but what Node itself warns of there is `warn`, as was seen where the lines were read.
 */
function plainLevel({ stream, level, line }: LogRecord): number {
  if (stream === 'busbar') return levelNumber(level)
  if (stream === 'stdout') return levelNumber('info')
  return levelNumber(level === 'warn' || isWarning(line) ? 'warn' : 'error')
}
