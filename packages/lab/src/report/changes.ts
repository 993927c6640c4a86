import type { Change, Changes } from '../stats/compare-runs.ts'
import { reasonText } from './reason.ts'
import { alignTable, ratio } from './format.ts'

const head = ['arm', 'metric', 'second / first run', 'verdict']

export function changesReport({ changes, notes, broken }: Changes): string {
  const rows = changes.map((change) => [change.arm, comparedBy(change), ratio(change), change.verdict])
  const slower = changes.filter(({ verdict }) => verdict === 'slower').map(({ arm }) => arm)
  return [
    ...alignTable([head, ...rows], 2),
    '',
    ...broken.map(
      ({ arm, because }) => `${arm} was valid in the first run and is not in the second: ${reasonText(because)}`,
    ),
    slower.length > 0 ? `Slower, beyond noise: ${[...new Set(slower)].join(', ')}.` : nothing(changes),
    ...notes,
    '',
  ].join('\n')
}

function comparedBy({ metric, share, against }: Change): string {
  const names = { perSecond: 'req/s', perCpuSecond: 'req/CPU s', p50: 'p50', p99: 'p99' }
  const at = share === null ? '' : ` at ${Math.round(share * 100)} %`
  return `${names[metric]}${at}${against === 'baseline' ? ', ratio to the baseline' : ''}`
}

function nothing(changes: readonly Change[]): string {
  if (changes.length === 0) return 'Nothing could be compared.'
  const unclear = changes.filter(({ verdict }) => verdict === 'unclear').map(({ arm }) => arm)
  if (unclear.length === 0) return 'Nothing is slower.'
  return `Nothing is slower beyond noise. Unclear: ${[...new Set(unclear)].join(', ')}.`
}
