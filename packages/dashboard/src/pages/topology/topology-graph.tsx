import { useMemo } from 'preact/hooks'
import { toneOfState } from '../../parts/badge.tsx'
import { formatRate, formatShare, formatTime } from '../../state/format.ts'
import type { Flow, ServiceNode } from './flows.ts'
import { nodeSize, place } from './place.ts'

interface GraphProps {
  readonly nodes: readonly ServiceNode[]
  readonly flows: readonly Flow[]
  /** The id of a node or a flow. */
  readonly selected: string | undefined
  readonly select: (id: string) => void
}

export function TopologyGraph({ nodes, flows, selected, select }: GraphProps) {
  const key = JSON.stringify([nodes.map(({ id }) => id), flows.map(({ id }) => id)])
  const placed = useMemo(
    () =>
      place(
        nodes.map(({ id }) => id),
        flows,
      ),
    [key],
  )
  const { width, height } = placed
  return (
    <div class="graph" tabIndex={0} role="group" aria-label="Graph of the services, scrollable">
      <svg viewBox={`0 0 ${width} ${height}`} style={{ width: `${width}px`, height: `${height}px` }}>
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            orient="auto"
            markerUnits="userSpaceOnUse"
          >
            <path d="M0 0 8 4 0 8z" class="arrow" />
          </marker>
        </defs>
        {flows.map((flow) => (
          <FlowLine
            key={flow.id}
            flow={flow}
            at={placed.paths.get(flow.id)}
            isSelected={flow.id === selected}
            select={select}
          />
        ))}
        {nodes.map((node) => (
          <NodeBox
            key={node.id}
            node={node}
            at={placed.nodes.get(node.id)}
            isSelected={node.id === selected}
            select={select}
          />
        ))}
      </svg>
    </div>
  )
}

interface LineProps {
  readonly flow: Flow
  readonly at: { readonly d: string; readonly x: number; readonly y: number } | undefined
  readonly isSelected: boolean
  readonly select: (id: string) => void
}

function FlowLine({ flow, at, isSelected, select }: LineProps) {
  if (at === undefined) return null
  const { id, caller, callee, perSecond, failed, p50, p99, transports } = flow
  const tone = failed > 0.01 ? 'bad' : failed > 0 ? 'warn' : perSecond !== null && perSecond > 0 ? 'active' : 'idle'
  const rate = formatRate(perSecond)
  const failures = failed > 0 ? `${formatShare(failed)} failed` : ''
  const latency = p50 === null ? '' : `${formatTime(p50)} · ${formatTime(p99)}`
  const name = `${caller || 'clients'} to ${callee}: ${[rate, failures || shortList(transports), latency].filter(Boolean).join(' ')}`
  return (
    <g
      class={`flow ${tone} ${isSelected ? 'selected' : ''}`}
      data-flow={id}
      {...pressable(() => select(id))}
      aria-label={name}
      aria-pressed={isSelected}
    >
      <path d={at.d} class="hit" />
      <path
        d={at.d}
        class="line"
        marker-end="url(#arrow)"
        stroke-width={1.3 + Math.min(3.5, Math.log10(1 + (perSecond ?? 0)))}
      />
      <g transform={`translate(${at.x} ${at.y})`}>
        <rect x={-64} y={-19} width={128} height={38} rx={7} class="plate" />
        <text y={latency === '' ? 4 : -4} class="rate">
          {rate}{' '}
          {failures === '' ? (
            <tspan class="by">{shortList(transports)}</tspan>
          ) : (
            <tspan class="failed">{failures}</tspan>
          )}{' '}
        </text>
        <text y={11} class="latency">
          {latency}
        </text>
        <title>{`${name}, by ${transports.join(', ')}`}</title>
      </g>
    </g>
  )
}

/** There is room for one. */
function shortList([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} +${others.length}`
}

interface BoxProps {
  readonly node: ServiceNode
  readonly at: { readonly x: number; readonly y: number } | undefined
  readonly isSelected: boolean
  readonly select: (id: string) => void
}

function NodeBox({ node, at, isSelected, select }: BoxProps) {
  if (at === undefined) return null
  const { id, label, note, state, kind } = node
  const { width, height } = nodeSize
  const left = state === undefined ? 14 : 31
  return (
    <g
      class={`node ${kind} ${isSelected ? 'selected' : ''}`}
      data-node={label}
      transform={`translate(${at.x - width / 2} ${at.y - height / 2})`}
      {...pressable(() => select(id))}
      aria-label={`${label} ${note}${state === undefined ? '' : `, ${state}`}`}
      aria-pressed={isSelected}
    >
      <rect width={width} height={height} rx={10} class="box" />
      {state !== undefined && <circle cx={18} cy={23} r={5} class={`state ${toneOfState[state]}`} />}
      <foreignObject x={left} y={12} width={width - left - 10} height={height - 16}>
        <div class="label">{label}</div> <div class="note">{note}</div>
      </foreignObject>
      <title>{label}</title>
    </g>
  )
}

/** A shape that is a button, for the keyboard too. */
function pressable(press: () => void) {
  return {
    role: 'button',
    // Attributes of SVG are case-sensitive.
    tabindex: 0,
    onClick: press,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' && event.key !== ' ') return
      event.preventDefault()
      press()
    },
  } as const
}
