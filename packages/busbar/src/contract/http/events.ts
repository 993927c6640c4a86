import type { BusbarError } from '../errors.ts'
import { encodeJson } from '../value/encode.ts'
import { toProblem } from './problem.ts'

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

export const errorTag = '$error'
export const endTag = '$end'

/** An object with such a key alone is never a value: those are put in `$plain`. */
export const lines: EventFormat = {
  type: 'application/x-ndjson',
  value: (value) => `${encodeJson(value) ?? '{"$undefined":true}'}\n`,
  error: (error) => `${JSON.stringify({ [errorTag]: toProblem(error) })}\n`,
  end: `{"${endTag}":true}\n`,
  alive: '\n',
}

/** JSON has no newlines of its own, so each value is one `data` line. `EventSource` comes again unless it is told the end. */
export const events: EventFormat = {
  type: 'text/event-stream',
  value: (value) => `data: ${encodeJson(value) ?? '{"$undefined":true}'}\n\n`,
  error: (error) => `event: error\ndata: ${JSON.stringify(toProblem(error))}\n\n`,
  end: 'event: end\ndata:\n\n',
  alive: ':\n\n',
}

export function formatFor(accept: string | undefined): EventFormat {
  return accept?.includes(events.type) === true ? events : lines
}

export function streamHeaders({ type }: EventFormat): Record<string, string> {
  // nginx gathers an answer before it passes it on, unless it is told.
  return { 'content-type': type, 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
}

/** Milliseconds until a stream without a first value says at least that it has begun; before that, it can still fail whole. */
export const headPatience = 1000
/** Milliseconds of silence after which a sign of life is written: proxies cut connections that idle for a minute. */
export const aliveInterval = 15_000
