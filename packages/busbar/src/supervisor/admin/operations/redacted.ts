import type { App } from '../../../config/app.ts'
import type { AppStatus } from '../../../observe/app-status.ts'
import { Redactor } from '../../../observe/redactor.ts'

/**
 * Hides in texts what the config reads from files of secrets. Names and paths stay: commands find the
 * app by them, and a short secret may be part of one.
 */
export function redactedStatus(status: AppStatus, { secrets = [] }: Pick<App, 'secrets'>): AppStatus {
  if (secrets.length === 0) return status
  const redactor = new Redactor({ secrets, fields: [] })
  const hide = <T extends string | null>(text: T): T => (text === null ? text : (redactor.text(text) as T))
  return {
    ...status,
    workers: status.workers.map((worker) => {
      const { lastExit } = worker
      return lastExit === null ? worker : { ...worker, lastExit: { ...lastExit, text: hide(lastExit.text) } }
    }),
    instances: status.instances.map((one) => ({ ...one, unhealthy: hide(one.unhealthy) })),
    schedule: status.schedule.map((entry) => ({
      ...entry,
      target: hide(entry.target),
      runs: entry.runs.map((run) => ({ ...run, error: hide(run.error) })),
    })),
  }
}
