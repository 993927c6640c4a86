/** Metrics of what services record themselves, and of the export by OTLP. */
import type { OtlpCounts } from '../otlp/signal-export.ts'
import type { Exemplars } from '../traces/exemplars.ts'
import type { Metric, Sample } from './prometheus.ts'
import { noServiceMetrics, type SeriesCount, type ServiceMetricsView } from './service-families.ts'

export interface Observed {
  readonly services: ServiceMetricsView
  /** Empty: nothing is exported. */
  readonly otlp: readonly OtlpCounts[]
  /** Finds calls with a trace. Only for a syntax that has exemplars: it looks at many traces. */
  readonly exemplars: () => Exemplars | undefined
}

export const nothingObserved: Observed = { services: noServiceMetrics, otlp: [], exemplars: () => undefined }

export const observedMetrics: readonly (readonly [Metric, (observed: Observed) => readonly Sample[]])[] = [
  [
    {
      name: 'busbar_service_metric_series',
      type: 'gauge',
      help: 'Series that the service records itself, by prom-client or OpenTelemetry.',
      labels: ['service', 'worker'],
    },
    ({ services }) => services.shown.map(toSample),
  ],
  [
    {
      name: 'busbar_service_metric_series_dropped',
      type: 'gauge',
      help: 'Series of the service that are left out, beyond the limits of its worker.',
      labels: ['service', 'worker'],
    },
    ({ services }) => services.dropped.map(toSample),
  ],
  [
    {
      name: 'busbar_otlp_exported_total',
      type: 'counter',
      help: 'Spans, or points of metrics, that the collector has accepted.',
      labels: ['signal'],
    },
    ({ otlp }) => otlp.map(({ signal, exported }) => ({ labels: { signal }, value: exported })),
  ],
  [
    {
      name: 'busbar_otlp_dropped_total',
      type: 'counter',
      help: 'Spans, or points of metrics, that were not exported: the queue was full, or the collector did not accept them.',
      labels: ['signal'],
    },
    ({ otlp }) => otlp.map(({ signal, dropped }) => ({ labels: { signal }, value: dropped })),
  ],
]

function toSample({ service, worker, count }: SeriesCount): Sample {
  return { labels: { service, worker }, value: count }
}
