import { useEffect, useRef } from 'preact/hooks'
import { plural } from '../../state/format.ts'
import { addBuckets, type Counts, quantile, rowBounds, rowOf } from '../../state/latency.ts'
import { formatTime } from '../../state/format.ts'
import { moments } from '../../state/history.ts'
import { chartMargin } from '../../parts/time-chart.tsx'
import { colour, theme } from '../../state/theme.ts'

const columns = 120

/** Seconds of a column. The narrowest with which all moments fit in is used. */
const widths = [1, 2, 5]

interface HeatMapProps {
  readonly edge: string
  readonly label: string
  readonly height: number
  /** With the scale of latencies. */
  readonly isLarge?: boolean
}

/** Time from left to right, latency from bottom to top; the stronger, the more calls. */
export function HeatMap({ edge, label, height, isLarge = false }: HeatMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const list = moments.value
  const cells = columnsOf(edge)
  useEffect(() => draw(canvas.current!, cells, isLarge), [list, edge, theme.value, isLarge])
  const all: Counts = new Map()
  for (const column of cells) for (const [bound, count] of column) all.set(bound, (all.get(bound) ?? 0) + count)
  const calls = [...all.values()].reduce((sum, count) => sum + count, 0)
  return (
    <canvas
      ref={canvas}
      class="heat-map"
      style={{ height: `${height}px` }}
      role="img"
      aria-label={`${label}: ${plural(calls, 'call')} shown, p50 ${formatTime(quantile(all, 0.5))}, p99 ${formatTime(quantile(all, 0.99))}`}
    />
  )
}

/** Seconds that all columns show. */
export function shownSeconds(): number {
  return columns * columnWidth()
}

function columnWidth(): number {
  const list = moments.value
  const span = ((list.at(-1)?.at ?? 0) - (list[0]?.at ?? 0)) / 1000
  return widths.find((width) => width * columns >= span) ?? widths.at(-1)!
}

function columnsOf(edge: string): Counts[] {
  const list = moments.value
  const columnSeconds = columnWidth()
  const last = Math.floor((list.at(-1)?.at ?? 0) / 1000 / columnSeconds)
  const cells = Array.from({ length: columns }, (): Counts => new Map())
  for (const { at, edges } of list) {
    const column = columns - 1 - (last - Math.floor(at / 1000 / columnSeconds))
    const buckets = edges.get(edge)?.buckets
    if (buckets !== undefined && column >= 0) addBuckets(cells[column]!, buckets)
  }
  return cells
}

/** Bounds with a mark in a large map, in milliseconds. */
const marks = [0.1, 1, 10, 100, 1000, 10_000]

function draw(canvas: HTMLCanvasElement, cells: readonly Counts[], isLarge: boolean): void {
  const { clientWidth: width, clientHeight: height } = canvas
  const ratio = devicePixelRatio
  canvas.width = width * ratio
  canvas.height = height * ratio
  const context = canvas.getContext('2d')!
  context.scale(ratio, ratio)
  // A large one is above a chart of the same times.
  const { left, right } = isLarge ? chartMargin : { left: 0, right: 0 }
  const [cellWidth, cellHeight] = [(width - left - right) / columns, height / rowBounds.length]
  const rows = cells.map(rowsOf)
  const most = Math.max(1, ...rows.flatMap((row) => [...row.values()]))
  const [cold, hot] = [colour('heat-0'), colour('heat-1')].map((text) => text.split(' ').map(Number))
  context.fillStyle = `rgb(${cold!.join(' ')})`
  context.fillRect(left, 0, width - left - right, height)
  rows.forEach((row, column) => {
    for (const [at, count] of row) {
      // Rare slow calls must be visible beside many fast ones.
      const share = 0.18 + 0.82 * (Math.log1p(count) / Math.log1p(most))
      context.fillStyle = `rgb(${cold!.map((part, index) => Math.round(part + (hot![index]! - part) * share)).join(' ')})`
      context.fillRect(
        left + column * cellWidth,
        height - (at + 1) * cellHeight,
        Math.ceil(cellWidth),
        Math.ceil(cellHeight),
      )
    }
  })
  if (isLarge) drawScale(context, width, height, left, cellHeight)
}

function rowsOf(counts: Counts): Map<number, number> {
  const rows = new Map<number, number>()
  for (const [bound, count] of counts) rows.set(rowOf(bound), (rows.get(rowOf(bound)) ?? 0) + count)
  return rows
}

function drawScale(context: CanvasRenderingContext2D, width: number, height: number, left: number, cell: number): void {
  context.fillStyle = colour('dim')
  context.strokeStyle = colour('line')
  context.font = '11px system-ui'
  context.textAlign = 'right'
  context.textBaseline = 'middle'
  for (const mark of marks) {
    const y = Math.round(height - (Math.log2(mark / rowBounds[0]!) * 2 + 1) * cell) + 0.5
    context.fillText(formatTime(mark), left - 8, y)
    context.beginPath()
    context.moveTo(left, y)
    context.lineTo(width, y)
    context.stroke()
  }
}
