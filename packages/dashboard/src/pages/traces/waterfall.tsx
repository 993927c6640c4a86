import { useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import type { Hop, OwnSpan, Trace } from '../../api/types.ts'
import { Card } from '../../parts/card.tsx'
import { formatTime, plural } from '../../state/format.ts'
import { CallDetails, OwnDetails } from './details.tsx'
import { rowsOf } from './trace-tree.ts'

const nameOf: Readonly<Record<string, string>> = {
  unknown: 'wire and run are not known',
  own: 'span of the service’s own',
}

/** Each call and span as a bar on the time of the trace, below what caused it. */
export function Waterfall({ trace }: { readonly trace: Trace }) {
  const [opened, open] = useState<string>()
  const { duration, calls, own, dropped, services, failed } = trace
  const rows = rowsOf(trace)
  const chosen = rows.find(({ id }) => id === opened)
  const counts = [
    plural(calls.length, 'hop'),
    own.length > 0 && plural(own.length, 'own span'),
    plural(services.length, 'service'),
    failed > 0 && `${failed} failed`,
  ]
  return (
    <>
      <Card
        title={formatTime(duration)}
        label="Waterfall"
        flush
        end={<span class="dim">{counts.filter(Boolean).join(', ')}</span>}
      >
        <div class="waterfall">
          <div class="legend">
            {legendOf(trace).map((part) => (
              <span key={part}>
                <span class={`swatch ${part}`} /> {nameOf[part] ?? part}
              </span>
            ))}
          </div>
          {rows.map((row) => {
            const common = {
              depth: row.depth,
              whole: duration,
              isOpen: row.id === opened,
              open: () => open(row.id === opened ? undefined : row.id),
            }
            if (row.kind === 'call') return <CallRow key={row.id} {...common} call={row.call} />
            return <OwnRow key={row.id} {...common} own={row.own} />
          })}
        </div>
      </Card>
      {dropped > 0 && <p class="dim">{plural(dropped, 'further span')} of this trace were not kept.</p>}
      {chosen?.kind === 'call' && <CallDetails call={chosen.call} />}
      {chosen?.kind === 'own' && <OwnDetails own={chosen.own} />}
    </>
  )
}

function legendOf({ calls, own }: Pick<Trace, 'calls' | 'own'>): string[] {
  const unknown = calls.every(isWhole) ? [] : ['unknown']
  return ['queue', 'wire', 'run', ...unknown, ...(own.length > 0 ? ['own'] : [])]
}

/** Of a command and of another app, only the caller's side is known. */
function isWhole({ wire, run }: Hop): boolean {
  return wire !== null && run !== null
}

interface RowProps {
  readonly depth: number
  /** Milliseconds of the trace. */
  readonly whole: number
  readonly isOpen: boolean
  readonly open: () => void
}

function CallRow({ call, ...row }: RowProps & { readonly call: Hop }) {
  const { id, service, method, path, start, duration, status, attempts } = call
  const isKnown = isWhole(call)
  const known = (['queue', 'wire', 'run'] as const).map((part) => ({ part, time: call[part] ?? 0 }))
  const rest = isKnown ? 0 : Math.max(0, duration - call.queue)
  const parts = [...known, { part: 'unknown', time: rest }]
  const whole = Math.max(
    parts.reduce((sum, { time }) => sum + time, 0),
    0.001,
  )
  return (
    <Bar
      {...row}
      id={id}
      start={start}
      duration={duration}
      isBad={status === null || status >= 500}
      parts={parts.map(({ part, time }) => ({ part, share: time / whole }))}
    >
      <strong>{service}</strong>{' '}
      <span class="dim mono">
        {method} {path ?? ''}
      </span>
      {attempts > 1 && <span class="dim"> ({attempts} attempts)</span>}
      {!isKnown && <span class="hidden-text">, {nameOf['unknown']}</span>}
    </Bar>
  )
}

function OwnRow({ own, ...row }: RowProps & { readonly own: OwnSpan }) {
  const { id, name, service, start, duration, failed } = own
  return (
    <Bar {...row} id={id} start={start} duration={duration} isBad={failed} parts={[{ part: 'own', share: 1 }]}>
      {name} <span class="dim">in {service}</span>
    </Bar>
  )
}

interface BarProps extends RowProps {
  readonly id: string
  readonly start: number
  readonly duration: number
  readonly isBad: boolean
  readonly parts: readonly { readonly part: string; readonly share: number }[]
  /** Its name. */
  readonly children: ComponentChildren
}

function Bar({ id, depth, start, duration, whole, isBad, parts, isOpen, open, children }: BarProps) {
  const share = (time: number): string => `${(100 * time) / Math.max(whole, 0.001)}%`
  return (
    <button class={`hop ${isBad ? 'bad' : ''}`} aria-expanded={isOpen} onClick={open} data-hop={id}>
      <span class="hop-name" style={{ paddingLeft: `${depth * 16}px` }}>
        {children}
      </span>
      <span class="track">
        <span class="hop-bar" style={{ left: share(start), width: `max(3px, ${share(duration)})` }}>
          {parts.map(({ part, share: of }) => (
            <span key={part} class={part} style={{ width: `${100 * of}%` }} />
          ))}
        </span>
      </span>
      <span class="num">{formatTime(duration)}</span>
    </button>
  )
}
