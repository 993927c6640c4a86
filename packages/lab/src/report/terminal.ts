import type { ArmResult, ComparisonResult, Result } from '../result.ts'
import { alignTable, fixed, megabytes, ratio, whole } from './table.ts'
import { inWords } from './words.ts'

const head = ['arm', 'req/s', 'req/CPU s', 'p50 ms', 'p99 ms', 'cores', 'PSS MB', 'against the baseline', 'verdict']

/** The table and the answer in words, without colours. */
export function terminalReport(result: Result): string {
  const { machine } = result
  const table = alignTable([head, ...result.arms.map((arm) => row(arm, result.comparisons))])
  return [
    result.question,
    '',
    ...table,
    '',
    ...inWords(result),
    '',
    `${result.rounds} rounds in ${Math.round(result.seconds)} s${result.partial ? ', ended early' : ''}, seed ${result.seed}; ${machine.cores} × ${machine.cpu}, ${machine.platform}, Node ${machine.node}`,
    '',
  ].join('\n')
}

export function row(arm: ArmResult, comparisons: readonly ComparisonResult[]): string[] {
  const found = comparisons.find((each) => each.arm === arm.name && each.decides)
  const baseline = comparisons.some((each) => each.baseline === arm.name)
  return [
    arm.name,
    whole(arm.throughput.perSecond),
    whole(arm.throughput.perCpuSecond),
    fixed(arm.latency?.p50, 2),
    fixed(arm.latency?.p99, 1),
    fixed(arm.server.cores, 2),
    megabytes(arm.server.pss),
    found ? ratio(found) : baseline ? 'baseline' : '',
    arm.valid ? (found?.verdict ?? '') : 'INVALID',
  ]
}
