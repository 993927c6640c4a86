import type { Result } from '../result.ts'
import { summaryTable } from './summary-table.ts'
import { tablesOf, type Table } from './tables.ts'
import { sentencesFor, lengthText } from './sentences.ts'

/** The terminal report as Markdown. */
export function markdownReport(result: Result, options: { summary: boolean }): string {
  const { machine } = result
  const tables = [...tablesOf(result), ...(options.summary ? [summaryTable(result)] : [])]
  return [
    `# ${result.scenario}`,
    '',
    result.question,
    '',
    ...tables.flatMap(lines),
    ...sentencesFor(result).map((sentence) => `- ${sentence}`),
    '',
    `${result.startedAt.slice(0, 10)}, ${lengthText(result)}, ${machine.cores} × ${machine.cpu}, kernel ${machine.kernel}, Node ${machine.node}.`,
    'Repeat it with:',
    '',
    '```sh',
    result.command,
    '```',
    '',
  ].join('\n')
}

function lines({ title, head, rows }: Table): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
  return [
    ...(title === '' ? [] : [`## ${title}`, '']),
    line(head),
    `|${head.map((_, column) => (column === 0 ? '---' : '--:')).join('|')}|`,
    ...rows.map(line),
    '',
  ]
}
