import { writeFile } from 'node:fs/promises'
import type { ArmResult, Latency, Result } from '../result.ts'
import { htmlReport } from './html/page.ts'
import { markdownReport } from './markdown.ts'
import { terminalReport } from './terminal.ts'

/** Files to write besides the terminal report. */
export interface ReportFiles {
  readonly json?: string | undefined
  /** Writes the JSON without histograms and time series. */
  readonly compact?: boolean | undefined
  readonly html?: string | undefined
  readonly md?: string | undefined
  /** Adds the summary table. A preset implies it. */
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

/** Only what tables and `compare` need, a hundredth of the size. */
export function compact(result: Result): Result {
  return { ...result, arms: result.arms.map(withoutSamples) }
}

function withoutSamples(arm: ArmResult): ArmResult {
  return {
    ...arm,
    latency: withoutBuckets(arm.latency),
    probe: withoutBuckets(arm.probe),
    open: arm.open.map((open) => ({ ...open, latency: withoutBuckets(open.latency) })),
    slices: arm.slices.map((slice) => ({ ...slice, series: [], runtime: [] })),
  }
}

function withoutBuckets(latency: Latency | null): Latency | null {
  return latency && { ...latency, buckets: [] }
}
