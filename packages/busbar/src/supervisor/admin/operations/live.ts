/** What the dashboard follows. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { AppStatus } from '../../../observe/app-status.ts'
import { levelNumber } from '../../../observe/log-entry.ts'
import type { EdgeTotal } from '../../../observe/metrics/edge-totals.ts'
import { bucketCount, upperBound } from '../../../shared/metrics/latency-buckets.ts'
import { logLevels } from '../../../shared/output/log-levels.ts'
import { following } from './followers.ts'
import { defineEvents, type OperationContext, type ServerEvent } from './operation.ts'
import { redactedStatus } from '../status/redacted.ts'
import { statusSchema } from '../status/status-schema.ts'

/** Lines of the log in one event; of more, the last ones. */
const maxLines = 500

/** Milliseconds between two looks at the log. */
const logInterval = 250

const newCalls = z.object({
  edge: z.int().meta({ description: 'the index in `status.edges`' }),
  buckets: z
    .array(z.object({ le: z.number().nullable().meta({ description: 'milliseconds; null: longer' }), count: z.int() }))
    .meta({ description: 'calls since the event before, by their latency; not cumulative' }),
})

export const statusEvent = z.object({
  at: z.number().meta({ description: 'milliseconds since 1970' }),
  status: statusSchema.meta({ description: 'without the buckets of `calls` and `edges`, and `runtime` of workers' }),
  latencies: z.array(newCalls),
  trace: z.string().nullable().meta({ description: 'the id of the latest trace' }),
})

export const logEvent = z.object({
  lines: z.array(z.string()).meta({ description: 'as those of GET /logs' }),
  times: z.array(z.number()).meta({
    description: 'when each was printed, in milliseconds since 1970; the time in a line is its program’s own',
  }),
  dropped: z.int().meta({ description: 'lines before these that are not shown' }),
  position: z.string().meta({ description: 'of the last line; `after` of a later request' }),
})

const input = z.strictObject({
  interval: z.coerce.number().int().min(250).max(60_000).default(1000).meta({
    description: 'milliseconds between two events `status`',
  }),
  logs: z.stringbool().default(false).meta({ description: 'also the log: its last lines, then further ones' }),
  level: z
    .enum(logLevels as [(typeof logLevels)[number], ...(typeof logLevels)[number][]])
    .optional()
    .meta({ description: 'only lines of this level or above' }),
  after: z
    .string()
    .regex(/^[\da-f]+-\d+$/)
    .optional()
    .meta({ description: 'only lines after this `position` of an event `log`; no effect in a later run of the app' }),
})

export const followApp = defineEvents({
  name: 'followApp',
  method: 'GET',
  path: '/live',
  summary:
    'The status of the app at each interval, with the latencies of new calls, and its log, until the client disconnects.',
  input,
  output: z.union([statusEvent, logEvent]),
  handle(given, context) {
    return following(context.running, follow(given, context))
  },
})

async function* follow(
  { interval, logs, level, after }: z.output<typeof input>,
  context: OperationContext,
): AsyncGenerator<ServerEvent> {
  const { signal } = context
  const latencies = new NewLatencies()
  let position = after
  let due = 0
  for (;;) {
    // The last one shows how the app has ended.
    const isLast = signal.aborted
    if (isLast || performance.now() >= due) {
      due = performance.now() + interval
      yield statusOf(context, latencies)
    }
    const read = logs
      ? context.recentLog?.readAfter(position, { level: level && levelNumber(level) }, maxLines)
      : undefined
    position = read?.position ?? position
    if (read !== undefined && read.lines.length > 0) yield { event: 'log', data: read }
    if (isLast) return
    const wait = Math.max(0, due - performance.now())
    await sleep(logs ? Math.min(wait, logInterval) : wait, undefined, { signal, ref: false }).catch(() => {})
  }
}

function statusOf({ running, edges, observations }: OperationContext, latencies: NewLatencies): ServerEvent {
  const status = redactedStatus(running.status(), running.app)
  const [latest] = observations.traces.list({ service: undefined, failed: false, limit: 1 })
  const data = {
    at: Date.now(),
    status: withoutBuckets(status),
    latencies: latencies.take(edges()),
    trace: latest?.id ?? null,
  }
  return { event: 'status', data }
}

/** The buckets would be most of the event, and they are totals; so would the spaces of heaps. */
function withoutBuckets(status: AppStatus): object {
  return {
    ...status,
    workers: status.workers.map((worker) => ({ ...worker, runtime: undefined })),
    calls: status.calls.map((pair) => ({ ...pair, buckets: undefined })),
    edges: status.edges.map((edge) => ({
      ...edge,
      outcomes: edge.outcomes.map(({ status, count, timed, sum }) => ({ status, count, timed, sum })),
    })),
  }
}

/** The increase of the latency buckets of each edge between two events of one stream. */
class NewLatencies {
  #seen: Float64Array[] | undefined

  take(edges: readonly EdgeTotal[]): z.output<typeof newCalls>[] {
    const now = edges.map(bucketsOf)
    const before = this.#seen
    this.#seen = now
    // What came before the stream has no time.
    if (before === undefined) return []
    return now.flatMap((counts, edge) => {
      const buckets = increase(counts, before[edge])
      return buckets.length === 0 ? [] : [{ edge, buckets }]
    })
  }
}

function bucketsOf({ outcomes }: EdgeTotal): Float64Array {
  const all = new Float64Array(bucketCount)
  for (const { buckets } of outcomes.values()) for (let at = 0; at < bucketCount; at++) all[at]! += buckets[at]!
  return all
}

function increase(now: Float64Array, before: Float64Array | undefined): { le: number | null; count: number }[] {
  const buckets: { le: number | null; count: number }[] = []
  for (let at = 0; at < bucketCount; at++) {
    const count = now[at]! - (before?.[at] ?? 0)
    const bound = upperBound(at)
    if (count > 0) buckets.push({ le: bound === Infinity ? null : bound / 1000, count })
  }
  return buckets
}
