import type { Latency } from '../../result.ts'
import { decades, drawing, el, tooltip, line, linear, logarithmic, path, spaced, text, type Scale } from './svg.ts'

export interface Curve {
  readonly name: string
  /** Index of its colour. */
  readonly colour: number
  readonly latency: Latency
}

const width = 960
const height = 380
const [left, right, top, bottom] = [64, 936, 16, 336] as const
/** Percentiles of the axis, as shares. */
const marks = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999]

/** Latency by percentile. Each additional nine has the same width, so that the tail is visible. */
export function percentilePlot(curves: readonly Curve[], label: string): string {
  const most = Math.max(...curves.map(({ latency }) => countOf(latency)))
  const lastNine = Math.min(5, Math.max(2, Math.log10(most)))
  const range = extent(curves)
  const x = linear([0, lastNine], [left, right])
  const y = logarithmic(range, [bottom, top])
  return drawing(
    width,
    height,
    label,
    ...spaced(decades(range), y, 26).flatMap((value) => [
      line(left, y(value), right, y(value), { class: 'grid' }),
      text(left - 10, y(value) + 4, milliseconds(value), { class: 'tick', 'text-anchor': 'end' }),
    ]),
    ...marks.flatMap((share) => (ninesOf(share) > lastNine ? [] : mark(x(ninesOf(share)), share))),
    text(left - 10, bottom + 38, 'ms', { class: 'hint', 'text-anchor': 'end' }),
    text(right, bottom + 38, 'slower requests →', { class: 'hint', 'text-anchor': 'end' }),
    ...curves.map((curve) => drawCurve(curve, x, y, lastNine)),
  )
}

function mark(x: number, share: number): string[] {
  const name = share === 0 ? 'best' : `p${+(share * 100).toFixed(3)}`
  return [
    line(x, top, x, bottom, { class: 'grid' }),
    text(x, bottom + 20, name, { class: 'tick', 'text-anchor': 'middle' }),
  ]
}

function drawCurve({ name, colour, latency }: Curve, x: Scale, y: Scale, lastNine: number): string {
  const total = countOf(latency)
  const points: [number, number][] = []
  let below = 0
  for (const [edge, count] of latency.buckets) {
    const from = x(Math.min(ninesOf(below / total), lastNine))
    below += count
    const to = x(Math.min(ninesOf(below / total), lastNine))
    const height = y(edge)
    // Points closer than the width of the line would only make the page larger.
    if (points.length === 0 || to - points.at(-1)![0] > 1 || Math.abs(height - points.at(-1)![1]) > 1)
      points.push([from, height], [to, height])
  }
  const summary = `${name}: p50 ${milliseconds(latency.p50)}, p99 ${milliseconds(latency.p99)}, most ${milliseconds(latency.max)} ms`
  return el('g', {}, path(points, { class: `curve c${colour}` }), tooltip(summary))
}

function countOf({ buckets }: Latency): number {
  return buckets.reduce((sum, [, count]) => sum + count, 0)
}

/** 0.9 has one nine, 0.99 two. */
function ninesOf(share: number): number {
  return share >= 1 ? Infinity : -Math.log10(1 - share)
}

function extent(curves: readonly Curve[]): [number, number] {
  const edges = curves.flatMap(({ latency }) => latency.buckets.map(([edge]) => edge))
  return [Math.max(0.001, Math.min(...edges)) / 1.3, Math.max(...edges) * 1.2]
}

function milliseconds(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : String(+value.toPrecision(2))
}
