import type { ComparisonResult, Result } from '../../result.ts'
import { percent, ratioText, titleOf } from '../sentences.ts'
import { drawing, el, tooltip, line, logarithmic, spaced, text, type Scale } from './svg.ts'

const width = 960
const row = 40
const left = 270
const right = 710
const top = 34

/** Each arm's ratio to its baseline with its interval, on a logarithmic scale. */
export function forest(result: Result, comparisons: readonly ComparisonResult[], label: string): string {
  const range = extent(comparisons)
  const x = logarithmic(range, [left, right])
  const bottom = top + comparisons.length * row
  return drawing(
    width,
    bottom + 44,
    label,
    band(x, result, comparisons[0]!, bottom),
    ...ticks(x, range).flatMap((value) => [
      line(x(value), top, x(value), bottom, { class: value === 1 ? 'one' : 'grid' }),
      text(x(value), bottom + 20, tickText(value), { class: 'tick', 'text-anchor': 'middle' }),
    ]),
    text(left, bottom + 38, '← less than the baseline', { class: 'hint' }),
    text(right, bottom + 38, 'more →', { class: 'hint', 'text-anchor': 'end' }),
    ...comparisons.map((each, at) => whisker(result, each, x, top + (at + 0.5) * row)),
  )
}

/** The noise of the session. No smaller difference is claimed. */
function band(x: Scale, { floor }: Result, { metric }: ComparisonResult, bottom: number): string {
  const noise = metric === 'perSecond' || metric === 'perCpuSecond' ? floor[metric] : 1
  const [from, to] = [Math.max(left, x(1 / noise)), Math.min(right, x(noise))]
  if (to - from < 2) return ''
  const caption = text((from + to) / 2, top - 12, `noise ± ${percent(noise - 1)}`, {
    class: 'hint',
    'text-anchor': 'middle',
  })
  return el('rect', { x: from, y: top - 4, width: to - from, height: bottom - top + 4, class: 'noise' }) + caption
}

function whisker(result: Result, found: ComparisonResult, x: Scale, y: number): string {
  const inside = (value: number) => Math.min(right, Math.max(left, x(value)))
  const kind = found.verdict.replace(' ', '-')
  const range = `${ratioText(found.low)} to ${ratioText(found.high)}`
  return el(
    'g',
    { class: `verdict ${kind}` },
    text(left - 24, y + 5, titleOf(result, found.arm), { 'text-anchor': 'end', class: 'name' }),
    line(inside(found.low), y, inside(found.high), y, { class: 'reach' }),
    ...[found.low, found.high]
      .filter((end) => x(end) >= left && x(end) <= right)
      .map((end) => line(x(end), y - 5, x(end), y + 5, { class: 'reach' })),
    el('circle', { cx: inside(found.ratio), cy: y, r: 6 }),
    text(right + 24, y + 5, `${ratioText(found.ratio)} ×`, { class: 'value' }),
    text(right + 96, y + 5, range, { class: 'hint' }),
    tooltip(`${found.arm}: ${ratioText(found.ratio)} (${range}), ${found.verdict}`),
  )
}

/**
 * Covers 1 and all ratios with their intervals, which are cut at four times the range of the
 * ratios.
 */
function extent(comparisons: readonly ComparisonResult[]): [number, number] {
  const ratios = comparisons.map(({ ratio }) => ratio)
  const [least, most] = [Math.min(1, ...ratios) / 4, Math.max(1, ...ratios) * 4]
  const low = Math.max(least, Math.min(0.9, ...comparisons.map((each) => each.low)) * 0.95)
  const high = Math.min(most, Math.max(1.1, ...comparisons.map((each) => each.high)) * 1.05)
  return [low, high]
}

const nice = [
  1, 0.5, 2, 0.1, 10, 0.2, 5, 0.02, 50, 0.05, 20, 100, 0.8, 1.25, 0.9, 1.1, 1.5, 3, 0.95, 1.05, 1.2, 0.7, 4, 7,
]

function ticks(x: Scale, [from, to]: readonly [number, number]): number[] {
  return spaced(
    nice.filter((value) => value >= from && value <= to),
    x,
    44,
  )
}

function tickText(value: number): string {
  return `${value} ×`
}
