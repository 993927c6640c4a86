import type { BusbarError } from '../errors.ts'
import { encodeJson, type Reader } from '../value/encode.ts'
import { endTag, errorTag } from '../value/kinds.ts'
import { toProblem } from './problem.ts'
import { readerOf } from './readers.ts'

/** How a stream is written: as lines of JSON, or as server-sent events for `EventSource`. */
export interface EventFormat {
  readonly type: string
  value(value: unknown): string
  error(error: BusbarError<string>): string
  /** Said when the stream has ended by itself. A stream that was cut says nothing. */
  readonly end: string
  /** Says that somebody is still there, to those who would cut a silent connection. */
  readonly alive: string
}

export const linesType = 'application/x-ndjson'

/** An object with such a key alone is never a value: those are put in `$plain`. */
const linesFor = (reader: Reader): EventFormat => ({
  type: linesType,
  value: (value) => `${encodeJson(value, reader) ?? nothing}\n`,
  error: (error) => `${JSON.stringify({ [errorTag]: toProblem(error, reader) })}\n`,
  end: `{"${endTag}":true}\n`,
  alive: '\n',
})

const nothing = '{"$undefined":true}'
const lines: Readonly<Record<Reader, EventFormat>> = { tags: linesFor('tags'), json: linesFor('json') }

/** JSON has no newlines of its own, so each value is one `data` line. `EventSource` comes again unless it is told the end. */
export const events: EventFormat = {
  type: 'text/event-stream',
  value: (value) => `data: ${encodeJson(value, 'json') ?? nothing}\n\n`,
  error: (error) => `event: error\ndata: ${JSON.stringify(toProblem(error, 'json'))}\n\n`,
  end: 'event: end\ndata:\n\n',
  alive: ':\n\n',
}

/** By the weights of the request's Accept (RFC 9110, 12.5.1): lines, unless events are named and weigh no less. */
export function formatFor(accept: string | undefined): EventFormat {
  if (accept === undefined) return lines.json
  const ranges = rangesOf(accept)
  const named = ranges.get(events.type) ?? 0
  return named > 0 && named >= (ranges.get(linesType) ?? 0) ? events : lines[readerOf(accept)]
}

/** The most that each media range weighs, in lower case, whatever other parameters it has. */
function rangesOf(accept: string): ReadonlyMap<string, number> {
  const ranges = new Map<string, number>()
  for (const range of accept.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? []) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const stated = parameters.find((parameter) => /^q\s*=/.test(parameter))
    const weight = stated === undefined ? 1 : Number(stated.slice(stated.indexOf('=') + 1)) || 0
    ranges.set(type, Math.max(ranges.get(type) ?? 0, weight))
  }
  return ranges
}

export function streamHeaders({ type }: EventFormat): Record<string, string> {
  // nginx gathers an answer before it passes it on, unless it is told.
  return { 'content-type': type, 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
}

/** Milliseconds until a stream without a first value says at least that it has begun; before that, it can still fail whole. */
export const headPatience = 1000
/** Milliseconds of silence after which a sign of life is written: proxies cut connections that idle for a minute. */
export const aliveInterval = 15_000
