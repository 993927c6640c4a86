import { writeFile } from 'node:fs/promises'
import type { Result } from '../result.ts'
import { compact } from './compact.ts'
import { htmlReport } from './html/page.ts'
import { markdownReport } from './markdown.ts'
import { terminalReport } from './terminal.ts'

/** Where a report goes beside the terminal. */
export interface ReportFiles {
  readonly json?: string | undefined
  /** JSON without histograms and the course of each slice. */
  readonly compact?: boolean | undefined
  readonly html?: string | undefined
  readonly md?: string | undefined
  /** Also the figures that people publish; always for their preset. */
  readonly summary?: boolean | undefined
  readonly preset?: string | undefined
}

export async function reportTo(output: NodeJS.WritableStream, result: Result, files: ReportFiles): Promise<void> {
  const options = { summary: files.summary === true || files.preset !== undefined }
  output.write(terminalReport(result, options))
  const found = files.compact === true ? compact(result) : result
  if (files.json !== undefined) await writeFile(files.json, `${JSON.stringify(found, undefined, 1)}\n`)
  if (files.html !== undefined) await writeFile(files.html, htmlReport(result))
  if (files.md !== undefined) await writeFile(files.md, markdownReport(result, options))
}
