import { stripVTControlCharacters } from 'node:util'

/**
 * Formats rows of cells as lines with aligned columns. Colours have no width. The last column is
 * not padded.
 */
export function alignColumns(rows: readonly (readonly string[])[], gap = 2): string[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, width(cell))
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell : cell + ' '.repeat(widths[column]! - width(cell) + gap),
      )
      .join('')
      .trimEnd(),
  )
}

function width(cell: string): number {
  return stripVTControlCharacters(cell).length
}
