import { useState } from 'preact/hooks'
import { get } from '../../api/client.ts'
import type { Trace, TraceList, TraceSummary } from '../../api/types.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card, Empty } from '../../parts/card.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Line } from '../../parts/line.tsx'
import { useResource } from '../../parts/resource.ts'
import { formatClock, formatTime } from '../../state/format.ts'
import { latestTrace, status } from '../../state/live.ts'
import { detailsOf, lines, traceOf } from '../../state/log-lines.ts'
import { linkTo, subject } from '../../state/route.ts'
import { Waterfall } from './waterfall.tsx'

export function TracesPage() {
  return subject.value === '' ? <List /> : <One key={subject.value} id={subject.value} />
}

function List() {
  const [service, setService] = useState('')
  const [failed, setFailed] = useState(false)
  const query = { limit: 100, failed, ...(service !== '' && { service }) }
  const listed = useResource(() => get<TraceList>('/traces', query), `${latestTrace.value} ${service} ${failed}`)
  const { sample, traces: given = [] } = listed.value ?? {}
  // A saved page has one list for all of these.
  const traces = given.filter(
    (one) => (!failed || one.failed > 0) && (service === '' || one.services.includes(service)),
  )
  const { services, remotes } = status.value!
  // What the list shows may belong to another app, and is then in no list of this one.
  const seen = [...given.flatMap((one) => one.services), service].filter(Boolean)
  const names = [...new Set([...[...services, ...remotes].map((one) => one.service), ...seen])]
  const longest = Math.max(...traces.map(({ duration }) => duration))
  return (
    <div class="page">
      <header>
        <h1>Traces</h1>
        <div class="actions row">
          <label class="row small dim">
            Service
            <select value={service} onChange={({ currentTarget }) => setService(currentTarget.value)}>
              <option value="">all</option>
              {names.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          <label class="check small">
            <input
              type="checkbox"
              checked={failed}
              onChange={({ currentTarget }) => setFailed(currentTarget.checked)}
            />
            only failed
          </label>
        </div>
      </header>
      <Failure of={listed} title="The traces cannot be read" />
      <Card
        title={
          sample == null
            ? 'Recent traces'
            : `Recent traces, ${Number((sample * 100).toPrecision(12))} % of all requests`
        }
        label="Recent traces"
        flush
      >
        {traces.length > 0 ? (
          <Summaries traces={traces} longest={longest} />
        ) : sample === null ? (
          <Empty title="Traces are off" code={'export default defineApp({\n  traces: { sample: 0.1 },\n})'}>
            Sample some of the requests, and see each hop with its queue, wire and run time.
          </Empty>
        ) : (
          <Empty title="No traces yet">The next sampled request appears here.</Empty>
        )}
      </Card>
    </div>
  )
}

function Summaries({ traces, longest }: { readonly traces: readonly TraceSummary[]; readonly longest: number }) {
  return (
    <table>
      <thead>
        <tr>
          <th>time</th>
          <th>request</th>
          <th>status</th>
          <th class="num">hops</th>
          <th>services</th>
          <th class="num">duration</th>
          <th class="wide-column">
            <span class="hidden-text">compared</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {traces.map(({ id, start, duration, first, hops, failed, services }) => (
          <tr key={id} class="selectable" data-trace={id}>
            <td class="dim">{formatClock(start)}</td>
            <td class="request">
              <a class="mono" href={linkTo('traces', id)}>
                {first.service} {first.method} {first.path ?? ''}
              </a>
            </td>
            <td>
              <Status status={first.status} failed={failed} />
            </td>
            <td class="num">{hops}</td>
            <td class="small dim">{services.join(', ')}</td>
            <td class="num">{formatTime(duration)}</td>
            <td>
              <span class="bar" style={{ width: `${Math.max(1, (duration / longest) * 100)}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Status({ status: code, failed }: { readonly status: number | null; readonly failed: number }) {
  const hasFailed = code === null || code >= 500
  const isBad = hasFailed || failed > 0
  return (
    <Badge tone={isBad ? 'bad' : code >= 400 ? 'warn' : 'good'}>
      {code ?? 'no response'}
      {!hasFailed && failed > 0 && `, ${failed} failed`}
    </Badge>
  )
}

function One({ id }: { readonly id: string }) {
  const loaded = useResource(() => get<Trace>(`/traces/${encodeURIComponent(id)}`), id)
  const trace = loaded.value
  return (
    <div class="page">
      <header>
        <h1>Trace</h1>
        <code class="dim">{id}</code>
        <div class="actions">
          <a class="button" href={linkTo('traces')}>
            All traces
          </a>
        </div>
      </header>
      <Failure of={loaded} title="This trace cannot be shown" />
      {trace !== undefined && <Waterfall trace={trace} />}
      {trace !== undefined && <ItsLines id={id} />}
    </div>
  )
}

/** Those that the page keeps. */
function ItsLines({ id }: { readonly id: string }) {
  const its = lines.value.filter((line) => line.json.includes(id) && traceOf(detailsOf(line).fields) === id)
  if (its.length === 0) return null
  return (
    <Card title="Its lines of the log" flush>
      <div class="lines">
        {its.map((line) => (
          <Line key={line.id} line={line} />
        ))}
      </div>
    </Card>
  )
}
