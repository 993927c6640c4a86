/** What the operations of the admin API answer, for clients in TypeScript. */
import type * as z from 'zod'
import type { getStatus } from './app.ts'
import type { reloadApp } from './changes.ts'
import type { describeApp } from './describe.ts'
import type { logEvent, statusEvent } from './live.ts'
import type { listReports } from './reports.ts'
import type { getTrace, listTraces } from './traces.ts'

type AnswerOf<Operation extends { readonly output: z.ZodType }> = z.output<Operation['output']>

/** By the `operationId` of the API's own document. */
export interface AdminAnswers {
  readonly getStatus: AnswerOf<typeof getStatus>
  readonly describeApp: AnswerOf<typeof describeApp>
  /** The data of each event, by its name. */
  readonly followApp: { readonly status: z.output<typeof statusEvent>; readonly log: z.output<typeof logEvent> }
  readonly listTraces: AnswerOf<typeof listTraces>
  readonly getTrace: AnswerOf<typeof getTrace>
  readonly listReports: AnswerOf<typeof listReports>
  readonly reloadApp: AnswerOf<typeof reloadApp>
}
