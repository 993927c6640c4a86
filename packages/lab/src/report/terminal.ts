import type { Result } from '../result.ts'
import { publishedTable } from './published.ts'
import { tablesOf, type Table } from './rows.ts'
import { alignTable } from './table.ts'
import { inWords, lengthText } from './words.ts'

/** The tables and the answer in words, without colours. `summary` adds the figures that people publish. */
export function terminalReport(result: Result, options: { summary: boolean }): string {
  const tables = [...tablesOf(result), ...(options.summary ? [publishedTable(result)] : [])]
  const saturated = result.arms.some(({ throughput }) => throughput.saturated)
  return [
    result.question,
    '',
    ...tables.flatMap((table) => [...lines(table), '']),
    ...(saturated ? ['* as many as the load generator could send', ''] : []),
    ...inWords(result),
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
