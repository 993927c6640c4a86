import type { Edge } from '../../api/types.ts'
import { Badge } from '../../parts/badge.tsx'
import { formatNumber, formatRate, formatTime } from '../../state/format.ts'
import { edgeKey } from '../../state/history.ts'
import { linkTo } from '../../state/route.ts'

/** The edges with their totals since the start of the app, as the API has them. */
export function EdgesTable({ edges }: { readonly edges: readonly Edge[] }) {
  const sorted = edges.toSorted((one, other) => other.calls - one.calls)
  return (
    <table>
      <caption class="hidden-text">Calls by caller, callee, method or route, and transport</caption>
      <thead>
        <tr>
          <th>caller</th>
          <th>callee</th>
          <th>call</th>
          <th>transport</th>
          <th class="num">now</th>
          <th class="num">calls</th>
          <th class="num">failed</th>
          <th class="num">retries</th>
          <th class="num">p50</th>
          <th class="num">p99</th>
          <th>status</th>
        </tr>
      </thead>
      <tbody>
        {sorted.map((edge) => (
          <Row key={edgeKey(edge)} edge={edge} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ edge }: { readonly edge: Edge }) {
  const { caller, callee, method, route, transport, callsPerSecond, calls, failures, retries, p50, p99, outcomes } =
    edge
  return (
    <tr class="selectable" data-edge={edgeKey(edge)}>
      <td>{caller === '' ? <span class="dim">clients</span> : caller}</td>
      <td>{callee}</td>
      <td>
        <a href={linkTo('latency', edgeKey(edge))} class="mono">
          {method} {route}
        </a>
      </td>
      <td>
        <Badge>{transport || '–'}</Badge>
      </td>
      <td class="num">{formatRate(callsPerSecond)}</td>
      <td class="num" data-calls={calls}>
        {formatNumber(calls)}
      </td>
      <td class="num">
        {failures === 0 ? <span class="dim">0</span> : <Badge tone="bad">{formatNumber(failures)}</Badge>}
      </td>
      <td class="num" data-retries={retries}>
        {retries === 0 ? <span class="dim">0</span> : formatNumber(retries)}
      </td>
      <td class="num" data-p50={p50}>
        {formatTime(p50 || null)}
      </td>
      <td class="num" data-p99={p99}>
        {formatTime(p99 || null)}
      </td>
      <td class="small dim">{outcomes.map(({ status, count }) => `${status} × ${formatNumber(count)}`).join(', ')}</td>
    </tr>
  )
}
