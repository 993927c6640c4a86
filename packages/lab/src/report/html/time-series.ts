import type { ArmResult, SliceResult } from '../../result.ts'
import { drawing, el, line, linear, path, text } from './svg.ts'

const width = 960
const [left, right] = [120, 880] as const
const strip = 46
const gap = 14

interface Strip {
  readonly name: string
  readonly unit: string
  /** Points of one slice: [tenths of a second since its start, value]. */
  readonly points: (slice: SliceResult) => readonly (readonly [number, number])[]
  readonly digits: number
}

const strips: readonly Strip[] = [
  {
    name: 'answered',
    unit: '/s',
    digits: 0,
    points: ({ series }) => series.map(([done], at) => [at + 0.5, done * 10]),
  },
  { name: 'p99', unit: 'ms', digits: 1, points: ({ series }) => series.map(([, p99], at) => [at + 0.5, p99]) },
  {
    name: 'busiest loop',
    unit: '%',
    digits: 0,
    points: ({ runtime }) => runtime.map(({ at, utilisation }) => [at * 10, utilisation * 100]),
  },
  {
    name: 'loop delay',
    unit: 'ms',
    digits: 1,
    points: ({ runtime }) => runtime.map(({ at, delayMax }) => [at * 10, delayMax]),
  },
  { name: 'GC', unit: 'ms', digits: 1, points: ({ runtime }) => runtime.map(({ at, gc }) => [at * 10, gc]) },
  {
    name: 'heap used',
    unit: 'MB',
    digits: 0,
    points: ({ runtime }) => runtime.map(({ at, heapUsed }) => [at * 10, heapUsed / 1e6]),
  },
]

/** Maximum of each strip's scale, by its name. */
export type Scales = ReadonlyMap<string, number>

/** Scales for all arms, so that their plots can be compared. */
export function sharedScales(arms: readonly ArmResult[]): Scales {
  const slices = arms.flatMap((arm) => arm.slices)
  return new Map(
    strips.map(({ name, points }) => [
      name,
      slices.flatMap((slice) => points(slice)).reduce((most, [, value]) => Math.max(most, value), 1e-9),
    ]),
  )
}

/** All slices of an arm in sequence, every tenth of a second: it shows what a median hides. */
export function timeSeries({ name, slices }: ArmResult, colour: number, scales: Scales): string {
  const lengths = slices.map((slice) => Math.max(1, slice.series.length))
  const starts = lengths.map((_, at) => lengths.slice(0, at).reduce((sum, length) => sum + length, 0))
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const x = linear([0, total], [left, right])
  const present = strips.filter(({ points }) => slices.some((slice) => points(slice).some(([, value]) => value > 0)))
  const bottom = present.length * (strip + gap)
  return drawing(
    width,
    bottom + 24,
    `${name} over time`,
    ...starts.map((start, at) =>
      el('rect', {
        x: x(start),
        y: 0,
        width: x(start + lengths[at]!) - x(start),
        height: bottom - gap / 2,
        class: slices[at]!.share === null ? `slice ${at % 2 === 0 ? 'even' : 'odd'}` : 'slice open',
      }),
    ),
    ...present.map((each, at) =>
      drawStrip(each, slices, starts, x, at * (strip + gap) + gap / 2, colour, scales.get(each.name)!),
    ),
    ...roundMarks(slices, starts, x, bottom + 12),
  )
}

function drawStrip(
  { name, unit, digits, points }: Strip,
  slices: readonly SliceResult[],
  starts: readonly number[],
  x: (value: number) => number,
  top: number,
  colour: number,
  most: number,
): string {
  const all = slices.map((slice) => points(slice))
  const y = linear([0, most], [top + strip, top])
  const drawn = all.flatMap((some, at) => [
    ...some.map(([tenth, value]) => [x(starts[at]! + Math.min(tenth, slices[at]!.series.length)), y(value)] as const),
    undefined,
  ])
  return el(
    'g',
    {},
    line(left, top + strip, right, top + strip, { class: 'axis' }),
    text(left - 12, top + strip / 2 + 4, name, { class: 'strip', 'text-anchor': 'end' }),
    text(right + 10, top + 9, `${number(most, digits)} ${unit}`, { class: 'tick' }),
    text(right + 10, top + strip, '0', { class: 'tick' }),
    path(drawn, { class: `series c${colour}` }),
  )
}

/** Numbers of rounds below their first slices, as many as fit. */
function roundMarks(
  slices: readonly SliceResult[],
  starts: readonly number[],
  x: (value: number) => number,
  y: number,
): string[] {
  const first = slices.flatMap(({ round }, at) =>
    slices[at - 1]?.round === round ? [] : [{ round, at: x(starts[at]!) }],
  )
  const each = Math.ceil(first.length / 15)
  return [
    text(left - 12, y, 'round', { class: 'tick', 'text-anchor': 'end' }),
    ...first
      .filter((_, at) => at % each === 0)
      .map(({ round, at }) => text(at + 2, y, String(round), { class: 'tick' })),
  ]
}

function number(value: number, digits: number): string {
  return value >= 100 || digits === 0 ? Math.round(value).toLocaleString('en-US') : value.toFixed(digits)
}
