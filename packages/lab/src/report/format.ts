/** Plain text in columns. The first `leftColumns` are aligned left, the others right. */
export function alignTable(rows: readonly (readonly string[])[], leftColumns = 1): string[] {
  const widths = rows.reduce<number[]>(
    (wide, row) => row.map((cell, column) => Math.max(wide[column] ?? 0, cell.length)),
    [],
  )
  return rows.map((row) =>
    row
      .map((cell, column) => (column < leftColumns ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
}

export function whole(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value)
    ? '–'
    : Math.round(value).toLocaleString('en-US')
}

export function fixed(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined || !Number.isFinite(value) ? '–' : value.toFixed(digits)
}

export function megabytes(bytes: number | null | undefined): string {
  return bytes === null || bytes === undefined ? '–' : whole(bytes / 1e6)
}

/** A ratio with its interval: `2.41 x [2.30, 2.53]`. */
export function ratio(found: { ratio: number; low: number; high: number }): string {
  const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(2))
  if (isTooWide(found)) return `${digits(found.ratio)} x [too few rounds]`
  return `${digits(found.ratio)} x [${digits(found.low)}, ${digits(found.high)}]`
}

/** True for the interval of so few rounds that it says nothing. */
export function isTooWide({ ratio, high }: { ratio: number; high: number }): boolean {
  return high > 1000 * Math.max(ratio, 1)
}
