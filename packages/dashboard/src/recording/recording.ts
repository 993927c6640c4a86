/**
 * The last minutes of an app, as one file that opens without the app. The file is this page with
 * what it had: `record.ts` collects that, `to-html.ts` writes the file.
 */
import type { AppStatus } from '../api/types.ts'
import type { EdgePoint, Moment, WorkerPoint } from '../state/history.ts'
import type { LogLine } from '../state/log-lines.ts'

export interface Recording {
  /** Milliseconds since 1970. */
  readonly savedAt: number
  readonly status: AppStatus
  readonly seenAt: number
  readonly moments: readonly RecordedMoment[]
  readonly lines: readonly LogLine[]
  /** Answers of the admin API, by path. */
  readonly answers: Readonly<Record<string, unknown>>
}

/** A {@link Moment} as JSON. */
export type RecordedMoment = Pick<Moment, 'at' | 'seconds'> & {
  readonly workers: readonly (readonly [string, WorkerPoint])[]
  readonly edges: readonly (readonly [string, EdgePoint])[]
}

/** Of the element that holds it. */
export const recordingId = 'recording'

/** Undefined: the page follows a running app. */
export const recording = read()

function read(): Recording | undefined {
  const text = document.getElementById(recordingId)?.textContent
  return text == null ? undefined : (JSON.parse(text) as Recording)
}

export function toRecorded({ at, seconds, workers, edges }: Moment): RecordedMoment {
  return { at, seconds, workers: [...workers], edges: [...edges] }
}

export function fromRecorded({ at, seconds, workers, edges }: RecordedMoment): Moment {
  return { at, seconds, workers: new Map(workers), edges: new Map(edges) }
}
