/** The lines of the log that the page keeps. */
import { signal } from '@preact/signals'
import type { LogEvent } from '../api/types.ts'

export interface LogLine {
  /** In the order of arrival. */
  readonly id: number
  /** When it was printed, whatever time is in it: milliseconds since 1970. */
  readonly at: number
  readonly level: number
  readonly service: string | undefined
  readonly text: string
  /** The whole line. */
  readonly json: string
}

/** What is shown of a line besides. */
export interface LineDetails {
  readonly time: string
  /** The other fields of a structured line. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** As pino numbers them. */
export const levels = [
  { level: 10, name: 'trace' },
  { level: 20, name: 'debug' },
  { level: 30, name: 'info' },
  { level: 40, name: 'warn' },
  { level: 50, name: 'error' },
  { level: 60, name: 'fatal' },
] as const

const most = 2000

/** Milliseconds. A time that is further from when its line was printed is no clock's. */
const near = 12 * 3600_000

let next = 0

/** Of the last line that has come. */
let position: string | undefined

export const lines = signal<readonly LogLine[]>([])

/** After the stream was opened again it goes on behind the lines that have come. */
export function livePath(): string {
  return position === undefined ? '/live?logs=true' : `/live?logs=true&after=${position}`
}

export function addLines({ lines: added, times, dropped, position: reached }: LogEvent): void {
  position = reached
  const gap = dropped > 0 ? [droppedLine(dropped, times[0]!)] : []
  lines.value = [...lines.value, ...gap, ...added.map((json, index) => toLine(json, times[index]!))].slice(-most)
}

/** A program's own time is shown as it is, if it is none of a clock. */
export function detailsOf({ json, at }: LogLine): LineDetails {
  const { time, fields } = parse(json)
  const date = new Date(time as string | number)
  const isNear = Math.abs(date.getTime() - at) < near
  return { time: isNear ? date.toISOString().slice(11, 23) : String(time), fields }
}

/** Of the trace in which the line was printed. Loggers with OpenTelemetry write `trace_id`. */
export function traceOf({ traceId, trace_id: otherwise }: LineDetails['fields']): string | undefined {
  return [traceId, otherwise].find((one): one is string => typeof one === 'string' && /^[\da-f]{32}$/.test(one))
}

function toLine(json: string, at: number): LogLine {
  const { level, service, msg, fields } = parse(json)
  const text = typeof msg === 'string' ? msg : JSON.stringify(msg ?? fields)
  const known = typeof service === 'string' ? service : undefined
  return { id: next++, at, level: numberOf(level), service: known, text, json }
}

function parse(json: string) {
  const {
    level,
    time,
    service,
    worker: _,
    msg,
    pid: __,
    hostname: ___,
    name: ____,
    ...fields
  } = JSON.parse(json) as Record<string, unknown>
  return { level, time, service, msg, fields }
}

/** Loggers write the number or the name. */
function numberOf(level: unknown): number {
  if (typeof level === 'number') return level
  return levels.find(({ name }) => name === String(level).toLowerCase())?.level ?? 30
}

function droppedLine(dropped: number, at: number): LogLine {
  const msg = `${dropped} lines are not shown: they came faster than they were read`
  return toLine(JSON.stringify({ level: 40, time: at, msg }), at)
}
