import type { Edge } from '../../api/types.ts'
import { Card, Empty } from '../../parts/card.tsx'
import { Fact } from '../../parts/fact.tsx'
import { TimeChart } from '../../parts/time-chart.tsx'
import { formatNumber, formatRate, formatShare, formatTime } from '../../state/format.ts'
import { edgeKey, moments, recentOf } from '../../state/history.ts'
import { addBuckets, type Counts, quantile } from '../../state/latency.ts'
import { status } from '../../state/live.ts'
import { goTo, linkTo, subject } from '../../state/route.ts'
import { HeatMap, shownSeconds } from './heat-map.tsx'

export function nameOf({ caller, callee, method, route }: Edge): string {
  return `${caller || 'clients'} → ${callee} ${method} ${route}`.trimEnd()
}

export function LatencyPage() {
  const edges = status.value!.edges.toSorted((one, other) => other.calls - one.calls)
  const chosen = edges.find((edge) => edgeKey(edge) === subject.value)
  return (
    <div class="page">
      <header>
        <h1>Latency</h1>
        <p class="lead">
          One heat map for each route and method: time from left to right, for ten minutes at most, latency from bottom
          to top. The stronger the colour, the more calls.
        </p>
      </header>
      {edges.length === 0 && (
        <section class="card">
          <Empty title="No calls yet">Send the app a request: its latencies appear here, by edge and route.</Empty>
        </section>
      )}
      {chosen !== undefined && <Chosen edge={chosen} />}
      <div class="grid wide">
        {edges.slice(0, 60).map((edge) => (
          <Small key={edgeKey(edge)} edge={edge} />
        ))}
      </div>
      {edges.length > 60 && (
        <p class="dim">The {formatNumber(edges.length - 60)} edges with fewer calls are in Topology.</p>
      )}
    </div>
  )
}

function Small({ edge }: { readonly edge: Edge }) {
  const key = edgeKey(edge)
  const { counts, perSecond } = recentOf([key], 60)
  return (
    <Card
      label={`${nameOf(edge)} ${edge.transport}`.trim()}
      title={
        <a class="edge-name" href={linkTo('latency', key)}>
          {nameOf(edge)}
        </a>
      }
      end={
        <span class="dim small">
          {formatRate(perSecond)} · p50 {formatTime(quantile(counts, 0.5))} · p99 {formatTime(quantile(counts, 0.99))}
        </span>
      }
    >
      <HeatMap edge={key} label={nameOf(edge)} height={84} />
    </Card>
  )
}

function Chosen({ edge }: { readonly edge: Edge }) {
  const key = edgeKey(edge)
  const list = moments.value
  const points = list.map((_, index) => recentPoint(key, index))
  const { transport, outcomes, calls, failures } = edge
  return (
    <Card
      title={nameOf(edge)}
      end={
        <button class="compact" onClick={() => goTo('latency')}>
          Close
        </button>
      }
    >
      <dl class="facts-row">
        <Fact name="transport" value={transport || '–'} />
        <Fact name="calls" value={formatNumber(calls)} />
        <Fact name="failed" value={calls === 0 ? '–' : formatShare(failures / calls)} />
        <Fact name="p50 since the start" value={formatTime(edge.p50 || null)} />
        <Fact name="p99 since the start" value={formatTime(edge.p99 || null)} />
        {outcomes.map(({ status: code, count, timed, sum }) => (
          <Fact
            key={code}
            name={`status ${code}`}
            value={`${formatNumber(count)}, mean ${formatTime(timed === 0 ? null : sum / timed)}`}
          />
        ))}
      </dl>
      <HeatMap edge={key} label={nameOf(edge)} height={230} isLarge />
      <TimeChart
        label="Latency in the last ten seconds"
        seconds={shownSeconds()}
        times={list.map(({ at }) => at)}
        format={formatTime}
        series={[
          { label: 'p50', values: points.map(({ p50 }) => p50) },
          { label: 'p99', values: points.map(({ p99 }) => p99) },
        ]}
      />
    </Card>
  )
}

/** Of the ten moments up to this one. */
function recentPoint(key: string, index: number): { readonly p50: number | null; readonly p99: number | null } {
  const counts: Counts = new Map()
  for (const { edges } of moments.value.slice(Math.max(0, index - 9), index + 1))
    addBuckets(counts, edges.get(key)?.buckets ?? [])
  return { p50: finite(quantile(counts, 0.5)), p99: finite(quantile(counts, 0.99)) }
}

function finite(value: number | null): number | null {
  return value === Infinity ? 67_000 : value
}
