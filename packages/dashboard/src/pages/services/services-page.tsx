import { useState } from 'preact/hooks'
import { get } from '../../api/client.ts'
import type { Description, Instance, ServiceDescription } from '../../api/types.ts'
import { Badge, StateBadge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useResource } from '../../parts/resource.ts'
import { recording } from '../../recording/recording.ts'
import { formatNumber, formatRate } from '../../state/format.ts'
import { shape, status } from '../../state/live.ts'
import { linkTo } from '../../state/route.ts'
import { AppActions } from './app-actions.tsx'
import { ServiceActions } from './service-actions.tsx'
import { ServiceDetails } from './service-details.tsx'
import { WorkersTable } from './workers-table.tsx'

export function ServicesPage() {
  const described = useResource(() => get<Description>('/describe'), shape.value)
  return (
    <div class="page">
      <header>
        <h1>Services</h1>
        {recording === undefined && <AppActions />}
      </header>
      <Failure of={described} title="What describes the services cannot be read" />
      <Card title="Services" flush>
        <table>
          <thead>
            <tr>
              <th>service</th>
              <th>state</th>
              <th>runs</th>
              <th class="num">in flight</th>
              <th class="num">now</th>
              <th class="num">calls</th>
              <th class="num">failed</th>
              {recording === undefined && <th>actions</th>}
            </tr>
          </thead>
          <tbody>
            {described.value?.services.map((service) => (
              <ServiceRow key={service.name} service={service} />
            ))}
          </tbody>
        </table>
      </Card>
      <Card title="Workers" flush>
        <WorkersTable />
      </Card>
    </div>
  )
}

type Counts = Pick<Instance, 'inFlight' | 'calls' | 'failures' | 'callsPerSecond'>

function ServiceRow({ service }: { readonly service: ServiceDescription }) {
  const [isOpen, open] = useState(false)
  const { instances, workers, services, edges } = status.value!
  const { name, kind, run, group, needs } = service
  const own = instances.filter((one) => one.service === name)
  const kindOf = (index: number) => workers.find(({ worker }) => worker === index)?.kind
  // A command counts nothing itself: its callers do.
  const isCounted = own.every(({ worker }) => kindOf(worker) !== 'command')
  const counts: readonly Counts[] = isCounted ? own : edges.filter(({ callee }) => callee === name)
  const sum = (of: (one: Counts) => number): number => counts.reduce((total, one) => total + of(one), 0)
  const totals = services.find((one) => one.service === name)
  const { waiting = 0, shed = 0 } = totals ?? {}
  // Those of workers that a move or a change of scale has removed count too.
  const { calls, failures } =
    isCounted && totals !== undefined
      ? totals
      : { calls: sum((one) => one.calls), failures: sum((one) => one.failures) }
  const states = [...new Set(own.map(({ state }) => state))]
  const unhealthy = own.flatMap(({ unhealthy }) => unhealthy ?? [])
  const places = own.map(({ worker }) => workers.find((one) => one.worker === worker)?.name ?? `${worker}`)
  return (
    <>
      <tr data-service={name}>
        <td>
          <button class="link strong" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
            {name}
          </button>
          <div class="small dim">
            {kind}
            {needs.length > 0 && `, needs ${needs.join(', ')}`}
          </div>
        </td>
        <td>
          <div class="row tight">
            {states.map((state) => (
              <StateBadge key={state} state={state} />
            ))}
            {unhealthy.length > 0 && <Badge tone="bad">unhealthy: {unhealthy[0]}</Badge>}
            {waiting > 0 && <Badge tone="warn">{waiting} waiting</Badge>}
            {shed > 0 && <Badge tone="bad">{formatNumber(shed)} refused</Badge>}
          </div>
        </td>
        <td>
          {group === null ? run : `${run} of ${group}`}
          <div class="small dim nowrap">{shortList(places)}</div>
        </td>
        <td class="num">{sum(({ inFlight }) => inFlight)}</td>
        <td class="num">{formatRate(sum(({ callsPerSecond }) => callsPerSecond))}</td>
        <td class="num" data-calls={calls}>
          {formatNumber(calls)}
        </td>
        <td class="num">
          <Failures count={failures} service={name} />
        </td>
        {recording === undefined && (
          <td>
            <ServiceActions service={service} instances={own.length} />
          </td>
        )}
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={8}>
            <ServiceDetails service={service} />
          </td>
        </tr>
      )}
    </>
  )
}

function Failures({ count, service }: { readonly count: number; readonly service: string }) {
  if (count === 0) return <span class="dim">0</span>
  return (
    <a href={linkTo('logs', service)} title="Its log">
      {formatNumber(count)}
    </a>
  )
}

function shortList(names: readonly string[]): string {
  return names.length <= 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`
}
