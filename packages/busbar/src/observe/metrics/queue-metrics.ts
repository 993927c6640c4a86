import type { QueueCounts } from '../../shared/metrics/queue-cells.ts'
import type { Metric } from './prometheus.ts'

/** The app's queue, by the service whose methods run. */
export const queueMetrics: readonly (readonly [Metric, (queue: QueueCounts) => number])[] = [
  metric('items_total', 'counter', 'Items that were added to the queue.', ({ enqueued }) => enqueued),
  metric(
    'duplicates_total',
    'counter',
    'Items that were not added, because there was one with the same id.',
    ({ duplicates }) => duplicates,
  ),
  metric('attempts_total', 'counter', 'Attempts to run an item that have begun.', ({ attempts }) => attempts),
  metric('failures_total', 'counter', 'Attempts that have failed.', ({ failures }) => failures),
  metric('dead_total', 'counter', 'Items that have become dead letters.', ({ buried }) => buried),
  metric('waiting', 'gauge', 'Items that wait for an attempt.', ({ waiting }) => waiting),
  metric('running', 'gauge', 'Items that an attempt runs.', ({ running }) => running),
  metric('dead', 'gauge', 'Dead letters that are kept.', ({ dead }) => dead),
]

function metric(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  value: (queue: QueueCounts) => number,
): readonly [Metric, (queue: QueueCounts) => number] {
  return [{ name: `busbar_queue_${name}`, type, help, labels: ['service'] }, value]
}
