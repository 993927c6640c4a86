import type { Hop, OwnSpan } from '../../api/types.ts'
import { Card } from '../../parts/card.tsx'
import { Fact } from '../../parts/fact.tsx'
import { formatBytes, formatTime } from '../../state/format.ts'

export function CallDetails({ call }: { readonly call: Hop }) {
  const { caller, service, method, path, transport, workers, queue, wire, run, sent, received, status, attempts } = call
  return (
    <Card title={`${service} ${method} ${path ?? ''}`}>
      <dl class="facts-row">
        <Fact name="caller" value={caller ?? 'outside'} />
        <Fact name="transport" value={transport ?? '–'} />
        <Fact name="workers" value={workers.join(', ') || '–'} />
        <Fact name="status" value={status === null ? 'no complete response' : `${status}`} />
        <Fact name="attempts" value={`${attempts}`} />
        <Fact name="queue" value={formatTime(queue)} />
        <Fact name="wire" value={formatTime(wire)} />
        <Fact name="run" value={formatTime(run)} />
        <Fact name="sent" value={formatBytes(sent)} />
        <Fact name="received" value={formatBytes(received)} />
      </dl>
    </Card>
  )
}

export function OwnDetails({ own }: { readonly own: OwnSpan }) {
  const { name, service, worker, scope, kind, duration, failed, message, attributes, events } = own
  const pairs = Object.entries(attributes)
  return (
    <Card title={name}>
      <dl class="facts-row">
        <Fact name="service" value={service} />
        <Fact name="worker" value={worker} />
        <Fact name="library" value={scope || '–'} />
        <Fact name="kind" value={kind} />
        <Fact name="took" value={formatTime(duration)} />
        {failed && <Fact name="failed" value={message ?? 'yes'} />}
        {pairs.map(([key, value]) => (
          <Fact key={key} name={key} value={textOf(value)} />
        ))}
      </dl>
      {events.map((event, at) => (
        <p key={at} class="small">
          <span class="dim">{formatTime(event.time)}</span> {event.name}{' '}
          <span class="dim mono">
            {Object.entries(event.attributes)
              .map(([key, value]) => `${key}=${textOf(value)}`)
              .join(' ')}
          </span>
        </p>
      ))}
    </Card>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
