import type { EventCounts } from '../../shared/metrics/instance-cells.ts'
import type { Metric } from './prometheus.ts'

const labels = ['service']

/** The events of topics, by the service that subscribes. */
export const eventMetrics: readonly (readonly [Metric, (events: EventCounts) => number])[] = [
  [
    { name: 'busbar_events_total', type: 'counter', help: 'Events whose handler in the service has ended.', labels },
    ({ handled }) => handled,
  ],
  [
    { name: 'busbar_event_failures_total', type: 'counter', help: 'Events whose handler has failed.', labels },
    ({ failed }) => failed,
  ],
  [
    {
      name: 'busbar_events_dropped_total',
      type: 'counter',
      help: 'Events that no instance accepted, or whose instance was stopped before their handler began.',
      labels,
    },
    ({ dropped }) => dropped,
  ],
  [
    {
      name: 'busbar_events_waiting',
      type: 'gauge',
      help: 'Events that instances have accepted and whose handlers have not begun.',
      labels,
    },
    ({ waiting }) => waiting,
  ],
]
