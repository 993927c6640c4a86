/** One entry of the log before it is formatted: what a program printed, in the shape of pino. */
import type { LogRecord } from '../shared/control-messages.ts'
import { isWarning, logLevels } from '../shared/output/log-levels.ts'

export type LogLevel = LogRecord['level']

export interface LogEntry {
  /** The number of pino's level: 30 is info. */
  readonly level: number
  readonly time: number
  readonly service: string | undefined
  readonly worker: number | undefined
  readonly content: TextContent | JsonContent
}

/** A plain line, or an event of Busbar itself with its fields. */
export interface TextContent {
  readonly kind: 'text'
  readonly msg: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/**
 * A line of a program's own logger. `text` is the unparsed line, because parsing would lose
 * details.
 */
export interface JsonContent {
  readonly kind: 'json'
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** As pino numbers them. */
const levels: ReadonlyMap<string, number> = new Map(logLevels.map((name, at) => [name, 10 * (at + 1)]))

export function levelNumber(level: LogLevel): number {
  return levels.get(level)!
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

/**
 * Parses a line in the shape of pino: a known level, and a message or a time. Otherwise undefined.
 */
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
    // The line starts with a brace, so this is an object or an error.
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Pino writes numbers, or labels if the program's `formatters.level` does. */
function levelOf(level: unknown): number | undefined {
  if (typeof level === 'number') return level
  return typeof level === 'string' ? levels.get(level.toLowerCase()) : undefined
}

/**
 * Standard output is `info`. Standard error is `error`: `console.error` is its main writer, and a
 * filter on errors must not hide a stack. Node's own warnings on it are `warn`; the reader of the
 * lines detects most of them.
 */
function plainLevel({ stream, level, line }: LogRecord): number {
  if (stream === 'busbar') return levelNumber(level)
  if (stream === 'stdout') return levelNumber('info')
  return levelNumber(level === 'warn' || isWarning(line) ? 'warn' : 'error')
}
