/** Follows the log of an app over its restarts. */
import { setTimeout as sleep } from 'node:timers/promises'
import type * as z from 'zod'
import { BusbarError } from '../../contract/errors.ts'
import { isAlive } from '../../shared/process/process-identity.ts'
import { readLogs } from '../../supervisor/admin/operations/logs.ts'
import type { CommandContext } from '../command.ts'
import { print } from '../terminal/terminal.ts'
import { listRuns, type Run } from './find-runs.ts'

/** Which lines. */
export interface LogQuery extends Pick<z.input<typeof readLogs.input>, 'service' | 'level'> {
  /** Milliseconds since 1970. */
  readonly since: number | undefined
}

/** The most kept lines that an app sends. */
export const mostKept = 100_000

/** Milliseconds between two looks for the next run. */
const lookInterval = 200

/** Milliseconds. Lines of that time before the end of a run are compared with what was shown. */
const overlap = 5000

/**
 * First up to `kept` lines that the app has kept, then further ones as they come, until the app has
 * ended for good, which it prints. Lines that the app writes while it restarts are among them.
 */
export async function* followLog(
  run: Run,
  filter: LogQuery,
  kept: number,
  { terminal }: Pick<CommandContext, 'terminal'>,
): AsyncGenerator<readonly string[]> {
  let current: Run | undefined = run
  let query: z.input<typeof readLogs.input> = { ...filter, limit: kept }
  let last: string | undefined
  while (current !== undefined) {
    for await (const lines of linesOf(current, query)) {
      // Of the next run: without those of the last one that were shown.
      const fresh: readonly string[] = last === undefined ? lines : lines.slice(lines.lastIndexOf(last) + 1)
      yield fresh
      if (terminal.out.lost.aborted) return
      last = lines.at(-1) ?? last
    }
    query = { ...filter, limit: mostKept, since: Math.max(filter.since ?? 0, Date.now() - overlap) }
    current = await nextRun(current, terminal)
  }
  print(terminal.err, 'busbar: the app has ended')
}

/** The kept lines as one group, then each further line as one. Ends with the run. */
async function* linesOf({ admin }: Run, query: z.input<typeof readLogs.input>): AsyncGenerator<readonly string[]> {
  let kept: string[] | undefined = []
  try {
    for await (const line of admin.lines(readLogs, { ...query, follow: 'true', mark: 'true' })) {
      if (kept === undefined) yield [line]
      else if (line !== '') kept.push(line)
      else {
        yield kept
        kept = undefined
      }
    }
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === 'ECONNRESET' || BusbarError.is(error, 'APP_NOT_RUNNING')
    if (!isGone) throw error
  }
}

/** Undefined: the app has ended, and does not start again. */
async function nextRun({ status: { app } }: Run, terminal: CommandContext['terminal']): Promise<Run | undefined> {
  for (let isLast = false; !terminal.out.lost.aborted;) {
    const { runs, waiting } = await listRuns(terminal.env)
    const next = runs.find(({ status }) => status.app.root === app.root && status.app.startedAt > app.startedAt)
    if (next !== undefined) return next
    // A restart keeps the process. After a crash, the app waits in the outer process.
    const mayReturn = isAlive(app.pid) || waiting.some(({ root }) => root === app.root)
    // A crash is noted a moment after it.
    if (!mayReturn && isLast) return undefined
    isLast = !mayReturn
    await sleep(lookInterval)
  }
  return undefined
}
