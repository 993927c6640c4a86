/** The tables of all reports. */
import type { ArmResult, OpenResult, Result } from '../result.ts'
import { fixed, megabytes, ratio, whole } from './format.ts'

export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** The main table, then latency at fixed rates and the probe, if they were measured. */
export function tablesOf(result: Result): Table[] {
  const shares = [...new Set(result.arms.flatMap(({ open }) => open.map(({ share }) => share)))]
  const probed = result.arms.some(({ probe }) => probe !== null)
  return [main(result), ...shares.map((share) => latency(result, share)), ...(probed ? [probe(result)] : [])]
}

function main(result: Result): Table {
  const unit = result.unit === 'run' ? 'runs' : 'req'
  return {
    title: '',
    head: [
      'arm',
      `${unit}/s`,
      `${unit}/CPU s`,
      'p50 ms',
      'p99 ms',
      'cores',
      'PSS MB',
      'against the baseline',
      'verdict',
    ],
    rows: result.arms.map((arm) => mainRow(arm, result)),
  }
}

function mainRow(arm: ArmResult, { comparisons }: Result): string[] {
  const found = comparisons.find((each) => each.arm === arm.name && each.decides && each.share === null)
  const baseline = comparisons.some((each) => each.baseline === arm.name)
  // Jobs and requests that compute run only a few times per second.
  const rate = (value: number | null) => ((value ?? 100) < 100 ? fixed(value, (value ?? 0) < 10 ? 2 : 1) : whole(value))
  return [
    arm.name,
    rate(arm.throughput.perSecond) + (arm.throughput.saturated ? '*' : ''),
    rate(arm.throughput.perCpuSecond),
    fixed(arm.latency?.p50, 2),
    fixed(arm.latency?.p99, 1),
    fixed(arm.server.cores, 2),
    megabytes(arm.server.pss),
    found ? ratio(found) : baseline ? 'baseline' : '',
    arm.valid ? (found?.verdict ?? '') : 'INVALID',
  ]
}

function latency(result: Result, share: number): Table {
  return {
    title: `Latency at ${Math.round(share * 100)} % of the baseline’s capacity, from when each request was due`,
    head: [
      'arm',
      'req/s due',
      'answered/s',
      'p50 ms',
      'p90 ms',
      'p99 ms',
      'p99.9 ms',
      'p99 against the baseline',
      'verdict',
    ],
    rows: result.arms.flatMap((arm) =>
      arm.open.filter((open) => open.share === share).map((open) => latencyRow(arm, open, result)),
    ),
  }
}

function latencyRow(arm: ArmResult, open: OpenResult, { comparisons }: Result): string[] {
  const found = comparisons.find((each) => each.arm === arm.name && each.metric === 'p99' && each.share === open.share)
  const baseline = comparisons.some((each) => each.baseline === arm.name)
  return [
    arm.name,
    whole(open.rate),
    whole(open.perSecond) + (open.overloaded ? ' overloaded' : ''),
    fixed(open.latency?.p50, 2),
    fixed(open.latency?.p90, 2),
    fixed(open.latency?.p99, 1),
    fixed(open.latency?.p999, 1),
    found ? ratio(found) : baseline ? 'baseline' : '',
    arm.valid ? (found?.verdict ?? '') : 'INVALID',
  ]
}

function probe(result: Result): Table {
  return {
    title: 'Probe requests during the load, at a fixed rate',
    head: ['arm', 'p50 ms', 'p90 ms', 'p99 ms', 'p99.9 ms', 'max ms'],
    rows: result.arms.map(({ name, probe }) => [
      name,
      ...[probe?.p50, probe?.p90, probe?.p99, probe?.p999, probe?.max].map((value) => fixed(value, 1)),
    ]),
  }
}
