import type { Worker } from '../../api/types.ts'
import { StateBadge } from '../../parts/badge.tsx'
import { formatBytes, formatDuration, formatShare, formatTime } from '../../state/format.ts'
import { status } from '../../state/live.ts'

export function WorkersTable() {
  const { workers, instances } = status.value!
  return (
    <table>
      <thead>
        <tr>
          <th>worker</th>
          <th>state</th>
          <th>hosts</th>
          <th class="num">processors</th>
          <th class="num">loop busy</th>
          <th class="num">loop delay</th>
          <th class="num">heap</th>
          <th class="num">memory</th>
          <th class="num">connections</th>
          <th>restarts</th>
        </tr>
      </thead>
      <tbody>
        {workers.map((worker) => (
          <WorkerRow
            key={worker.worker}
            worker={worker}
            hosts={instances.filter((one) => one.worker === worker.worker).map(({ service }) => service)}
          />
        ))}
      </tbody>
    </table>
  )
}

function WorkerRow({ worker, hosts }: { readonly worker: Worker; readonly hosts: readonly string[] }) {
  const {
    name,
    kind,
    pid,
    state,
    cpu,
    eventLoopUtilization: busy,
    eventLoopDelay,
    heapUsed,
    memory,
    connections,
  } = worker
  return (
    <tr data-worker={name}>
      <td>
        <strong class="nowrap">{name}</strong>
        <div class="small dim nowrap">
          {kind}
          {pid !== null && `, process ${pid}`}
        </div>
      </td>
      <td>
        <StateBadge state={state} />
        {worker.startsIn !== null && <div class="small dim">starts in {formatTime(worker.startsIn)}</div>}
        {state === 'blocked' && worker.silentFor !== null && (
          <div class="small dim">for {formatDuration(worker.silentFor)}</div>
        )}
      </td>
      <td class="hosts">{hosts.join(', ')}</td>
      <td class="num">{cpu === null ? '–' : cpu.toFixed(2)}</td>
      <td class="num">{formatShare(busy)}</td>
      <td class="num">{formatTime(eventLoopDelay)}</td>
      <td class="num">{formatBytes(heapUsed)}</td>
      <td class="num">{formatBytes(memory)}</td>
      <td class="num">{connections}</td>
      <td>
        <Restarts worker={worker} />
      </td>
    </tr>
  )
}

/** Why the last worker of the slot has ended, with the stack of it. */
function Restarts({ worker: { restarts, lastExit } }: { readonly worker: Worker }) {
  if (lastExit === null) return <span class="dim">{restarts === 0 ? 'none' : restarts}</span>
  const { text, stack, service } = lastExit
  return (
    <div class="exit">
      <strong>{restarts}</strong> <span class="small">{service === null ? text : `${service}: ${text}`}</span>
      {stack.length > 0 && (
        <details>
          <summary class="small">where it was</summary>
          <pre tabIndex={0}>{stack.join('\n')}</pre>
        </details>
      )}
    </div>
  )
}
