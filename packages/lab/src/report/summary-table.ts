/** The summary that benchmarks usually publish: one column per arm, one row per figure. */
import type { ArmResult, Result } from '../result.ts'
import type { Table } from './tables.ts'
import { isSuccess, statusName } from '../engine/statuses.ts'
import { fixed, megabytes, whole } from './format.ts'

export function summaryTable(result: Result): Table {
  const arms = result.arms.filter(({ control }) => !control)
  return {
    title: 'Summary',
    head: ['', ...arms.map(({ name }) => name)],
    rows: figures.map(([name, value]) => [name, ...arms.map(value)]),
  }
}

const figures: readonly (readonly [name: string, value: (arm: ArmResult) => string])[] = [
  ['2xx, or OK of gRPC', ({ status }) => whole(total(status, isSuccess))],
  ['other statuses', ({ status }) => statusesOf(status)],
  ['mismatches', ({ failures }) => whole(total(failures, (kind) => kind.startsWith('mismatch:')))],
  ['timeouts', ({ failures }) => whole(total(failures, (kind) => kind === 'timeout'))],
  [
    'resets',
    ({ failures }) =>
      whole(
        total(failures, (kind) => ['reset', 'closed', 'truncated', 'broken', 'streamReset', 'goAway'].includes(kind)),
      ),
  ],
  ['unanswered after 2 s', ({ unanswered }) => whole(unanswered)],
  ['latency min ms', ({ latency }) => fixed(latency?.min, 2)],
  ['latency avg ms', ({ latency }) => fixed(latency?.mean, 2)],
  ['latency p50 ms', ({ latency }) => fixed(latency?.p50, 2)],
  ['latency p90 ms', ({ latency }) => fixed(latency?.p90, 2)],
  ['latency p99 ms', ({ latency }) => fixed(latency?.p99, 2)],
  ['latency max ms', ({ latency }) => fixed(latency?.max, 1)],
  ['requests', ({ status }) => whole(total(status, () => true))],
  ['requests/s', ({ throughput }) => whole(throughput.perSecond)],
  ['requests/server CPU s', ({ throughput }) => whole(throughput.perCpuSecond)],
  ['throughput kB/s', ({ throughput }) => whole((throughput.bytesPerSecond ?? Number.NaN) / 1000)],
  ['CPU cores', ({ server }) => fixed(server.cores, 2)],
  ['RSS MB', ({ server }) => megabytes(server.rss)],
  ['PSS MB', ({ server }) => megabytes(server.pss)],
  ['heap total MB', ({ server }) => megabytes(server.heapTotal)],
  ['heap used MB', ({ server }) => megabytes(server.heapUsed)],
  ['new space MB', ({ server }) => megabytes(server.newSpace)],
  ['old space MB', ({ server }) => megabytes(server.oldSpace)],
  ['busiest event loop', ({ server }) => percentOf(server.utilisation)],
  ['loop delay p99 ms', ({ server }) => fixed(server.loopDelay, 1)],
  ['GC, of a core', ({ server }) => percentOf(server.gc)],
  ['processes', ({ server }) => whole(server.processes)],
  ['threads with a loop', ({ server }) => whole(server.threads)],
]

function total(counts: Readonly<Record<string, number>>, counted: (key: string) => boolean): number {
  return Object.entries(counts).reduce((sum, [key, count]) => sum + (counted(key) ? count : 0), 0)
}

/** `–`, `503: 12, NOT_FOUND: 3`. */
function statusesOf(counts: Readonly<Record<string, number>>): string {
  const others = Object.entries(counts).filter(([status]) => !isSuccess(status))
  return others.length === 0 ? '0' : others.map(([status, count]) => `${statusName(status)}: ${count}`).join(', ')
}

function percentOf(share: number | null): string {
  return share === null ? '–' : `${fixed(share * 100, share < 0.1 ? 1 : 0)} %`
}
