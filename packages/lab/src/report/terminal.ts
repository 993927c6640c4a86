import type { Result } from '../result.ts'
import { summaryTable } from './summary-table.ts'
import { tablesOf, type Table } from './tables.ts'
import { alignTable } from './format.ts'
import { sentencesFor, lengthText } from './sentences.ts'

/** Tables and sentences, without colours. `summary` adds the summary table. */
export function terminalReport(result: Result, options: { summary: boolean }): string {
  const tables = [...tablesOf(result), ...(options.summary ? [summaryTable(result)] : [])]
  const saturated = result.arms.some(({ throughput }) => throughput.saturated)
  return [
    result.question,
    '',
    ...tables.flatMap((table) => [...lines(table), '']),
    ...(saturated ? ['* as many as the load generator could send', ''] : []),
    ...sentencesFor(result),
    '',
    closing(result),
    '',
  ].join('\n')
}

function lines({ title, head, rows }: Table): string[] {
  return [...(title === '' ? [] : [title]), ...alignTable([head, ...rows])]
}

function closing(result: Result): string {
  const { seed, machine } = result
  return `${lengthText(result)}, seed ${seed}; ${machine.cores} × ${machine.cpu}, ${machine.platform}, Node ${machine.node}`
}
