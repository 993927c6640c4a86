import { Card } from '../../parts/card.tsx'
import { TimeChart } from '../../parts/time-chart.tsx'
import { formatBytes, formatShare, formatTime } from '../../state/format.ts'
import { moments, type WorkerPoint } from '../../state/history.ts'
import { status } from '../../state/live.ts'

interface Shown {
  readonly key: keyof WorkerPoint
  readonly title: string
  readonly hint: string
  readonly format: (value: number) => string
  readonly atLeast: number
}

const charts: readonly Shown[] = [
  {
    key: 'eventLoopUtilization',
    title: 'Event loop busy',
    hint: 'share of each second',
    format: formatShare,
    atLeast: 0.1,
  },
  { key: 'eventLoopDelay', title: 'Event loop delay', hint: 'longest of each second', format: formatTime, atLeast: 5 },
  {
    key: 'cpu',
    title: 'Processors',
    hint: '1 is one whole processor',
    format: (value) => value.toFixed(2),
    atLeast: 0.1,
  },
  { key: 'gc', title: 'Garbage collection', hint: 'share of the time', format: formatShare, atLeast: 0.02 },
  { key: 'heapUsed', title: 'JavaScript heap', hint: 'in use', format: formatBytes, atLeast: 1e7 },
  {
    key: 'memory',
    title: 'Memory',
    hint: 'of a thread its heap and what that refers to',
    format: formatBytes,
    atLeast: 1e7,
  },
]

export function RuntimePage() {
  const list = moments.value
  const times = list.map(({ at }) => at)
  const names = status.value!.workers.filter(({ kind }) => kind !== 'command').map(({ name }) => name)
  return (
    <div class="page">
      <header>
        <h1>Runtime</h1>
        <p class="lead">
          Each worker’s event loop, heap and garbage collection, since this page is open, for ten minutes at most. A
          blocked worker shows here at once: the supervisor reads this from shared memory.
        </p>
      </header>
      <div class="grid wide">
        {charts.map(({ key, title, hint, format, atLeast }) => (
          <Card key={key} title={title} end={<span class="dim small">{hint}</span>}>
            <TimeChart
              label={title}
              times={times}
              format={format}
              atLeast={atLeast}
              series={names.map((label) => ({
                label,
                values: list.map(({ workers }) => workers.get(label)?.[key] ?? null),
              }))}
            />
          </Card>
        ))}
      </div>
    </div>
  )
}
