import type { BusbarError } from '../errors.ts'
import { encodeJson, type JsonDialect } from '../value/encode.ts'
import { endTag, errorTag } from '../value/serialisable.ts'
import { toProblem } from './problem.ts'
import { dialectFor, mediaRanges } from './accept.ts'

/** The format of a stream: lines of JSON, or server-sent events for `EventSource`. */
export interface StreamFormat {
  readonly type: string
  value(value: unknown): string
  error(error: BusbarError<string>): string
  /** Written when the stream is complete. A truncated stream lacks it. */
  readonly end: string
  /** Keep-alive: written during silence, so that proxies do not cut the connection. */
  readonly keepAlive: string
}

export const ndjsonType = 'application/x-ndjson'

/** A value never is an object with only this key: such objects are escaped by `$plain`. */
const linesFor = (dialect: JsonDialect): StreamFormat => ({
  type: ndjsonType,
  value: (value) => `${encodeJson(value, dialect) ?? nothing}\n`,
  error: (error) => `${JSON.stringify({ [errorTag]: toProblem(error, dialect) })}\n`,
  end: `{"${endTag}":true}\n`,
  keepAlive: '\n',
})

const nothing = '{"$undefined":true}'
const lines: Readonly<Record<JsonDialect, StreamFormat>> = { tags: linesFor('tags'), json: linesFor('json') }

/**
 * JSON text has no newlines, so each value is one `data` line. Without the `end` event,
 * `EventSource` would reconnect.
 */
export const events: StreamFormat = {
  type: 'text/event-stream',
  value: (value) => `data: ${encodeJson(value, 'json') ?? nothing}\n\n`,
  error: (error) => `event: error\ndata: ${JSON.stringify(toProblem(error, 'json'))}\n\n`,
  end: 'event: end\ndata:\n\n',
  keepAlive: ':\n\n',
}

/**
 * Chooses by the request's Accept header (RFC 9110, 12.5.1): lines of JSON, unless events are
 * listed with at least the same weight.
 */
export function formatFor(accept: string | undefined): StreamFormat {
  if (accept === undefined) return lines.json
  const ranges = mediaRanges(accept)
  const named = ranges.get(events.type) ?? 0
  return named > 0 && named >= (ranges.get(ndjsonType) ?? 0) ? events : lines[dialectFor(accept)]
}

export function streamHeaders({ type }: StreamFormat): Record<string, string> {
  // nginx buffers responses unless this header disables it.
  return { 'content-type': type, 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
}

/**
 * Milliseconds to wait for a stream's first value before the response starts. An error within this
 * time becomes a response of its own.
 */
export const firstValueTimeout = 1000
/**
 * Milliseconds of silence after which a keep-alive is written: proxies cut connections that idle
 * for a minute.
 */
export const keepAliveInterval = 15_000
