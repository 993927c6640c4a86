import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { colour, theme } from '../state/theme.ts'

export interface Series {
  readonly label: string
  /** One for each time; null: not known. */
  readonly values: readonly (number | null)[]
}

interface ChartProps {
  /** Names the chart for those who do not see it. */
  readonly label: string
  /** Milliseconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  /** The least upper end of the scale. */
  readonly atLeast?: number
  readonly height?: number
  /** Of the time axis, which ends with the last time. Default: all times. */
  readonly seconds?: number
}

/** Pixels beside the lines. */
export const chartMargin = { left: 62, right: 10 } as const

/** Lines over time, of one unit. */
export function TimeChart({ label, times, series, format, atLeast = 0, height = 150, seconds }: ChartProps) {
  const host = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(null)
  const names = series.map((one) => one.label).join()
  useEffect(() => {
    const element = host.current!
    const made = new uPlot(
      optionsOf(element.clientWidth, { series, format, atLeast, height, seconds }),
      [[], ...series.map(() => [])],
      element,
    )
    chart.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [names, theme.value, atLeast, height, seconds])
  useEffect(() => {
    chart.current?.setData([times.map((time) => time / 1000), ...series.map(({ values }) => [...values])])
  })
  const last = series.map(({ label, values }) => `${label} ${shown(values.at(-1), format)}`).join(', ')
  return (
    <figure class="chart">
      <div ref={host} role="img" aria-label={`${label}: ${last}`} />
      <figcaption class="legend">
        {series.map(({ label, values }, index) => (
          <span key={label}>
            <svg width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="3" {...markOf(index)} />
            </svg>
            {label} <strong>{shown(values.at(-1), format)}</strong>
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

/** There are eight colours. Further series are dashed, and their marks are rings. */
const colours = 8

function markOf(index: number): Readonly<Record<string, string>> {
  const own = `var(--series-${(index % colours) + 1})`
  return index < colours ? { fill: own } : { fill: 'none', stroke: own, 'stroke-width': '4' }
}

function shown(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}

/** Between two marks of the time axis, which shows seconds. */
const wholeSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600]

interface Drawn extends Pick<ChartProps, 'series' | 'format'> {
  readonly atLeast: number
  readonly height: number
  readonly seconds: number | undefined
}

function optionsOf(width: number, { series, format, atLeast, height, seconds }: Drawn): uPlot.Options {
  const axis = {
    stroke: colour('dim'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  }
  return {
    width,
    height,
    padding: [8, chartMargin.right, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
    scales: {
      ...(seconds !== undefined && { x: { range: (_, __, max) => [max - seconds, max] } }),
      y: { range: (_, __, max) => [0, Math.max(atLeast, (max ?? 0) * 1.08)] },
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 70,
        incrs: wholeSeconds,
        values: (_, ticks) => ticks.map((tick) => new Date(tick * 1000).toLocaleTimeString('en-GB')),
      },
      { ...axis, size: chartMargin.left, values: (_, ticks) => ticks.map((tick) => format(tick)) },
    ],
    series: [
      {},
      ...series.map(({ label }, index) => ({
        label,
        stroke: colour(`series-${(index % colours) + 1}`),
        ...(index >= colours && { dash: [2 + 4 * Math.floor(index / colours), 3] }),
        width: 1.6,
        points: { show: false },
        spanGaps: false,
      })),
    ],
  }
}
