/**
 * What OpenTelemetry's exporters accept, as far as Busbar fills it in. Their packages are installed
 * only where an app exports, so their types are not imported.
 */
import type { Attributes } from '@opentelemetry/api'

/** Seconds and nanoseconds. */
export type Time = [number, number]

export interface Resource {
  readonly attributes: Attributes
  merge(other: Resource | null): Resource
  getRawAttributes(): [string, unknown][]
}

/** `ReadableSpan` of `@opentelemetry/sdk-trace`. */
export interface ExportedSpan {
  readonly name: string
  readonly kind: number
  readonly spanContext: () => SpanContext
  readonly parentSpanContext?: SpanContext
  readonly startTime: Time
  readonly endTime: Time
  readonly duration: Time
  readonly status: { readonly code: number; readonly message?: string }
  readonly attributes: Attributes
  readonly links: readonly { readonly context: SpanContext; readonly attributes: Attributes }[]
  readonly events: readonly { readonly name: string; readonly time: Time; readonly attributes: Attributes }[]
  readonly ended: boolean
  readonly resource: Resource
  readonly instrumentationScope: { readonly name: string; readonly version?: string }
  readonly droppedAttributesCount: number
  readonly droppedEventsCount: number
  readonly droppedLinksCount: number
}

interface SpanContext {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
  readonly traceState?: { serialize(): string }
}

/** `ResourceMetrics` of `@opentelemetry/sdk-metrics`. */
export interface ExportedMetrics {
  readonly resource: Resource
  readonly scopeMetrics: readonly {
    readonly scope: { readonly name: string }
    readonly metrics: readonly ExportedMetric[]
  }[]
}

export interface ExportedMetric {
  readonly descriptor: {
    readonly name: string
    readonly description: string
    readonly unit: string
    readonly valueType: number
  }
  readonly aggregationTemporality: number
  readonly dataPointType: number
  readonly isMonotonic?: boolean
  readonly dataPoints: readonly {
    readonly startTime: Time
    readonly endTime: Time
    readonly attributes: Attributes
    readonly value: number | ExportedHistogram
  }[]
}

export interface ExportedHistogram {
  readonly sum: number
  readonly count: number
  readonly buckets: { readonly boundaries: readonly number[]; readonly counts: readonly number[] }
}
