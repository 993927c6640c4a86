/** Follows the log of an app over its restarts. */
import { setTimeout as sleep } from 'node:timers/promises'
import type * as z from 'zod'
import { BusbarError } from '../../contract/errors.ts'
import type { AppStatus } from '../../observe/app-status.ts'
import { isAlive } from '../../shared/process/process-identity.ts'
import { readLogs } from '../../supervisor/admin/operations/logs.ts'
import type { CommandContext } from '../command.ts'
import { print } from '../terminal/terminal.ts'
import { listRuns, otherRuns, type Run } from './find-runs.ts'

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
 * Milliseconds without a sign of the app, after which it has ended for good: its outer process may
 * be about to note a crash, or the next run about to open its socket.
 */
const patience = { afterStop: 2000, afterCrash: 10_000 } as const

/**
 * First up to `kept` lines that the app has kept, then further ones as they come, until the app has
 * ended for good, which it prints.
 */
export async function* followLog(
  run: Run,
  filter: LogQuery,
  kept: number,
  { terminal }: Pick<CommandContext, 'terminal'>,
): AsyncGenerator<readonly string[]> {
  const began = Date.now()
  let current: Run | undefined = run
  let query: z.input<typeof readLogs.input> = { ...filter, limit: kept }
  /** The last one of the run before. */
  let shown: string | undefined
  let last: string | undefined
  while (current !== undefined) {
    const others = await otherRuns(current, terminal.env)
    let limit: number = patience.afterStop
    try {
      for await (const lines of linesOf(current, query)) {
        yield shown === undefined ? lines : lines.slice(lines.lastIndexOf(shown) + 1)
        if (terminal.out.lost.aborted) return
        shown = undefined
        last = lines.at(-1) ?? last
      }
    } catch (error) {
      if (!isCut(error)) throw error
      limit = patience.afterCrash
    }
    shown = last
    const ended = Date.now()
    query = { ...filter, limit: mostKept, since: Math.max(filter.since ?? began, ended - overlap) }
    const mayBeNext = ({ pid, startedAt }: AppStatus['app']): boolean => !others.has(pid) && startedAt > ended - overlap
    current = await nextRun(current, { mayBeNext, limit, terminal })
  }
  print(terminal.err, 'busbar: the app has ended')
}

/** The kept lines as one group, then each further line as one. Ends with the run. */
async function* linesOf({ admin }: Run, query: z.input<typeof readLogs.input>): AsyncGenerator<readonly string[]> {
  let kept: string[] | undefined = []
  for await (const line of admin.lines(readLogs, { ...query, follow: 'true', mark: 'true' })) {
    if (kept === undefined) yield [line]
    else if (line !== '') kept.push(line)
    else {
      yield kept
      kept = undefined
    }
  }
}

/** An app that stops ends its answers in order. */
function isCut(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNRESET' || BusbarError.is(error, 'APP_NOT_RUNNING')
}

interface Search {
  /** Whether it can be the next run, if it has another process. */
  readonly mayBeNext: (next: AppStatus['app']) => boolean
  /** Milliseconds without a sign of the app. */
  readonly limit: number
  readonly terminal: CommandContext['terminal']
}

/** Undefined: the app has ended, and does not start again. */
async function nextRun({ status: { app } }: Run, { mayBeNext, limit, terminal }: Search): Promise<Run | undefined> {
  let seenAt = performance.now()
  while (!terminal.out.lost.aborted) {
    const { runs, waiting } = await listRuns(terminal.env)
    const later = runs.filter(({ status }) => status.app.root === app.root && status.app.startedAt > app.startedAt)
    const next = later.find(({ status }) => status.app.pid === app.pid || mayBeNext(status.app))
    if (next !== undefined) return next
    // A restart keeps the process. After a crash, the app waits in the outer process.
    if (isAlive(app.pid) || waiting.some(({ root }) => root === app.root)) seenAt = performance.now()
    if (performance.now() - seenAt > limit) return undefined
    await sleep(lookInterval)
  }
  return undefined
}
