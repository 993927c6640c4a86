import type { Result } from '../result.ts'
import { row } from './terminal.ts'
import { inWords } from './words.ts'

const head = ['arm', 'req/s', 'req/CPU s', 'p50 ms', 'p99 ms', 'cores', 'PSS MB', 'against the baseline', 'verdict']

/** The same as on the terminal, for a page or an issue. */
export function markdownReport(result: Result): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const { machine } = result
  return [
    `# ${result.scenario}`,
    '',
    result.question,
    '',
    line(head),
    `|${head.map((_, column) => (column === 0 ? '---' : '--:')).join('|')}|`,
    ...result.arms.map((arm) => line(row(arm, result.comparisons))),
    '',
    ...inWords(result).map((sentence) => `- ${sentence}`),
    '',
    `${result.startedAt.slice(0, 10)}, ${result.rounds} rounds in ${Math.round(result.seconds)} s, ${machine.cores} × ${machine.cpu}, kernel ${machine.kernel}, Node ${machine.node}.`,
    'Repeat it with:',
    '',
    '```sh',
    result.command,
    '```',
    '',
  ].join('\n')
}
