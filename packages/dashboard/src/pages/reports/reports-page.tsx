import { get } from '../../api/client.ts'
import type { Arm, Report, ReportList } from '../../api/types.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card, Empty } from '../../parts/card.tsx'
import { Fact } from '../../parts/fact.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useResource } from '../../parts/resource.ts'
import { formatBytes, formatDuration, formatNumber, formatTime } from '../../state/format.ts'
import { linkTo, subject } from '../../state/route.ts'

export function ReportsPage() {
  return subject.value === '' ? <List /> : <One key={subject.value} file={subject.value} />
}

function List() {
  const listed = useResource(() => get<ReportList>('/reports'), '')
  return (
    <div class="page">
      <header>
        <h1>Reports</h1>
        <p class="lead">
          What the lab has measured for this app: ways of running and connecting its services, side by side.
        </p>
      </header>
      <Failure of={listed} title="The reports cannot be read" />
      <Card title="Results" flush>
        {listed.value !== undefined && listed.value.reports.length > 0 ? (
          <table>
            <thead>
              <tr>
                <th>measured</th>
                <th>scenario</th>
                <th>question</th>
                <th class="num">arms</th>
                <th>file</th>
              </tr>
            </thead>
            <tbody>
              {listed.value.reports.map(({ file, scenario, question, startedAt, arms }) => (
                <tr key={file} class="selectable" data-report={file}>
                  <td>{dateOf(startedAt)}</td>
                  <td>
                    <a href={linkTo('reports', file)}>{scenario}</a>
                  </td>
                  <td>{question}</td>
                  <td class="num">{arms}</td>
                  <td class="mono dim">{file}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <Empty title="No reports yet" code="npx busbar bench . --json results/placements.json">
            Measure this app at several placements, and write the result into its folder “results”.
          </Empty>
        )}
      </Card>
    </div>
  )
}

function One({ file }: { readonly file: string }) {
  const loaded = useResource(() => get<Report>(`/reports/${encodeURIComponent(file)}`), file)
  return (
    <div class="page">
      <header>
        <h1>{loaded.value?.scenario ?? 'Report'}</h1>
        <div class="actions">
          <a class="button" href={linkTo('reports')}>
            All reports
          </a>
        </div>
        {loaded.value !== undefined && <p class="lead">{loaded.value.question}</p>}
      </header>
      <Failure of={loaded} title="This report cannot be shown" />
      {loaded.value !== undefined && <Shown report={loaded.value} />}
    </div>
  )
}

function Shown({ report: { arms, machine, startedAt, seconds, rounds, command, notes } }: { readonly report: Report }) {
  const most = Math.max(...arms.map(({ throughput }) => throughput.perCpuSecond ?? 0), 1)
  const base = arms[0]?.throughput.perCpuSecond ?? null
  return (
    <>
      <Card title="Arms" flush end={<span class="dim small">bars: requests per second of server CPU</span>}>
        <table>
          <thead>
            <tr>
              <th>arm</th>
              <th class="num">per second</th>
              <th class="num">per CPU second</th>
              <th class="num">against the first</th>
              <th class="wide-column">
                <span class="hidden-text">compared</span>
              </th>
              <th class="num">p50</th>
              <th class="num">p99</th>
              <th class="num">cores</th>
              <th class="num">memory (PSS)</th>
            </tr>
          </thead>
          <tbody>
            {arms.map((arm) => (
              <ArmRow key={arm.name} arm={arm} most={most} base={base} />
            ))}
          </tbody>
        </table>
      </Card>
      <Card title="How it was measured">
        <dl class="facts-row">
          <Fact name="when" value={dateOf(startedAt)} />
          <Fact name="for" value={`${formatDuration(seconds * 1000)}, ${rounds} rounds`} />
          <Fact name="machine" value={`${machine.cpu}, ${machine.cores} cores, ${machine.platform}`} />
          <Fact name="Node" value={machine.node} />
        </dl>
        {notes.map((note) => (
          <p key={note} class="dim">
            {note}
          </p>
        ))}
        <pre class="command" tabIndex={0}>
          {command}
        </pre>
      </Card>
    </>
  )
}

function ArmRow({ arm, most, base }: { readonly arm: Arm; readonly most: number; readonly base: number | null }) {
  const { title, valid, invalidBecause, control, throughput, latency, server, unanswered } = arm
  const { perSecond, perCpuSecond } = throughput
  return (
    <tr>
      <td>
        {title} {control && <Badge>control</Badge>} {!valid && <Badge tone="bad">invalid</Badge>}
        {!valid && <div class="small dim">{invalidBecause.join('; ')}</div>}
        {unanswered > 0 && <div class="small dim">{formatNumber(unanswered)} requests without an answer</div>}
      </td>
      <td class="num">{perSecond === null ? '–' : formatNumber(perSecond)}</td>
      <td class="num">{perCpuSecond === null ? '–' : formatNumber(perCpuSecond)}</td>
      <td class="num">{perCpuSecond === null || base === null ? '–' : `${(perCpuSecond / base).toFixed(2)} ×`}</td>
      <td>
        <span class="bar" style={{ width: `${(100 * (perCpuSecond ?? 0)) / most}%` }} />
      </td>
      <td class="num">{formatTime(latency?.p50 ?? null)}</td>
      <td class="num">{formatTime(latency?.p99 ?? null)}</td>
      <td class="num">{server.cores === null ? '–' : server.cores.toFixed(2)}</td>
      <td class="num">{formatBytes(server.pss)}</td>
    </tr>
  )
}

function dateOf(iso: string): string {
  return new Date(iso).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
}
