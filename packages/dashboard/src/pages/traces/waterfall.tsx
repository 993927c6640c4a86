import { useState } from 'preact/hooks'
import type { Hop, Trace } from '../../api/types.ts'
import { Card } from '../../parts/card.tsx'
import { formatBytes, formatTime, plural } from '../../state/format.ts'

/** Each call as a bar on the time of the trace, below the call that caused it. */
export function Waterfall({ trace }: { readonly trace: Trace }) {
  const [opened, open] = useState<string>()
  const { duration, calls, dropped, services, failed } = trace
  const hop = calls.find(({ id }) => id === opened)
  const end = `${plural(calls.length, 'hop')}, ${plural(services.length, 'service')}${failed > 0 ? `, ${failed} failed` : ''}`
  return (
    <>
      <Card title={formatTime(duration)} label="Waterfall" flush end={<span class="dim">{end}</span>}>
        <div class="waterfall">
          <div class="legend">
            {(['queue', 'wire', 'run'] as const).map((part) => (
              <span key={part}>
                <span class={`swatch ${part}`} /> {part}
              </span>
            ))}
          </div>
          {calls.map((call) => (
            <HopRow
              key={call.id}
              hop={call}
              whole={duration}
              isOpen={call.id === opened}
              open={() => open(call.id === opened ? undefined : call.id)}
            />
          ))}
        </div>
      </Card>
      {dropped > 0 && <p class="dim">{plural(dropped, 'further span')} of this trace were not kept.</p>}
      {hop !== undefined && <HopDetails hop={hop} />}
    </>
  )
}

interface RowProps {
  readonly hop: Hop
  readonly whole: number
  readonly isOpen: boolean
  readonly open: () => void
}

function HopRow({ hop, whole, isOpen, open }: RowProps) {
  const { service, method, path, depth, start, duration, queue, wire, run, status } = hop
  const isBad = status === null || status >= 500 || (hop.protocol === 'rpc' && status !== 0 && status >= 500)
  const share = (time: number): string => `${(100 * time) / Math.max(whole, 0.001)}%`
  const known = queue + (wire ?? 0) + (run ?? 0)
  return (
    <button class={`hop ${isBad ? 'bad' : ''}`} aria-expanded={isOpen} onClick={open} data-hop={hop.id}>
      <span class="hop-name" style={{ paddingLeft: `${depth * 16}px` }}>
        <strong>{service}</strong>{' '}
        <span class="dim mono">
          {method} {path ?? ''}
        </span>
      </span>
      <span class="track">
        <span class="hop-bar" style={{ left: share(start), width: `max(3px, ${share(duration)})` }}>
          {(['queue', 'wire', 'run'] as const).map((part) => (
            <span key={part} class={part} style={{ width: `${(100 * (hop[part] ?? 0)) / Math.max(known, 0.001)}%` }} />
          ))}
        </span>
      </span>
      <span class="num">{formatTime(duration)}</span>
    </button>
  )
}

function HopDetails({ hop }: { readonly hop: Hop }) {
  const { caller, service, method, path, transport, workers, queue, wire, run, sent, received, status, attempts } = hop
  const facts: [string, string][] = [
    ['caller', caller ?? 'outside'],
    ['transport', transport ?? '–'],
    ['workers', workers.join(', ') || '–'],
    ['status', status === null ? 'no complete response' : `${status}`],
    ['attempts', `${attempts}`],
    ['queue', formatTime(queue)],
    ['wire', formatTime(wire)],
    ['run', formatTime(run)],
    ['sent', formatBytes(sent)],
    ['received', formatBytes(received)],
  ]
  return (
    <Card title={`${service} ${method} ${path ?? ''}`}>
      <dl class="facts-row">
        {facts.map(([name, value]) => (
          <div class="fact" key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
