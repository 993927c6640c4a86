/** Busbar's context of a trace, as OpenTelemetry's API has it. */
import type { Context, ContextAPI, Span, SpanContext, TraceAPI, TraceState } from '@opentelemetry/api'
import type { Trace } from '../../../contract/context.ts'
import { formatTraceparent, parseTraceparent } from '../../../shared/traces/trace-context.ts'

/** What is used of a copy of `@opentelemetry/api`. */
export interface TracingApi {
  readonly context: ContextAPI
  readonly trace: TraceAPI
  readonly ROOT_CONTEXT: Context
  readonly createTraceState?: (text: string) => TraceState
}

export function spanContextOf({ traceparent, tracestate }: Trace, api: TracingApi): SpanContext | undefined {
  const parsed = parseTraceparent(traceparent)
  if (parsed === undefined) return undefined
  const { trace: traceId, span: spanId, isSampled } = parsed
  const state = tracestate === undefined ? undefined : api.createTraceState?.(tracestate)
  return { traceId, spanId, traceFlags: isSampled ? 1 : 0, ...(state !== undefined && { traceState: state }) }
}

/** Undefined without a valid span: what is called from there begins a new trace. */
export function traceOf(span: Span | undefined, { trace }: TracingApi): Trace | undefined {
  const context = span?.spanContext()
  if (context === undefined || !trace.isSpanContextValid(context)) return undefined
  const { traceId, spanId, traceFlags, traceState } = context
  const traceparent = formatTraceparent({ trace: traceId, span: spanId, isSampled: (traceFlags & 1) === 1 })
  const tracestate = traceState?.serialize()
  return tracestate === undefined || tracestate === '' ? { traceparent } : { traceparent, tracestate }
}
