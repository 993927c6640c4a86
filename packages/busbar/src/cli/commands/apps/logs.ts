import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { BusbarError } from '../../../contract/errors.ts'
import { createPrettyFormat } from '../../../observe/log-format.ts'
import { readLogs } from '../../../supervisor/admin/operations/logs.ts'
import { findRun, type Run } from '../../admin/find-runs.ts'
import { followLog, type LogQuery, mostKept } from '../../admin/follow-log.ts'
import { ownName, ownPath } from '../../background/own-folder.ts'
import type { Output } from '../../terminal/terminal.ts'
import type { CommandContext } from '../../command.ts'

/**
 * `busbar logs`: shows the last lines of a running app's log, and with `--follow` the next ones.
 */
export async function logs(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const pattern = flags.grep === undefined ? undefined : parsePattern(flags.grep)
  const since = flags.since === undefined ? undefined : parseSince(flags.since, Date.now())
  const run = await findLogged(context)
  const show = flags.json ? (line: string) => `${line}\n` : prettyLine(terminal.out.colors)
  const most = flags.lines ?? 100
  const filter = { service: operands[0], level: flags.level, since }
  // What does not match must not count: then all kept lines are asked for.
  const kept = pattern === undefined ? most : mostKept
  const groups = flags.follow ? followLog(run, filter, kept, context) : keptLines(run, filter, kept)
  let left = most
  for await (const lines of groups) {
    const matching = pattern === undefined ? lines : lines.filter((line) => pattern.test(line))
    await write(terminal.out, (left === 0 ? [] : matching.slice(-left)).map(show).join(''))
    // Later groups are new.
    left = Infinity
    // Nobody reads any more: `busbar logs -f | head -1`.
    if (terminal.out.lost.aborted) break
  }
  return 0
}

/** Waits for a slow reader: the app then counts what it has missed. */
async function write({ stream, lost }: Output, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain', { signal: lost }).catch(() => {})
}

async function* keptLines({ admin }: Run, filter: LogQuery, limit: number): AsyncGenerator<readonly string[]> {
  const lines: string[] = []
  for await (const line of admin.lines(readLogs, { ...filter, limit })) lines.push(line)
  yield lines
}

/** An app that has ended has left its files: they say why. */
async function findLogged(context: CommandContext): Promise<Run> {
  const { flags, terminal } = context
  try {
    return await findRun(flags.app, context)
  } catch (error) {
    const folder = ownPath(terminal.env, 'logs', ownName(resolve(terminal.cwd, flags.app ?? '.')))
    if (!BusbarError.is(error, 'APP_NOT_RUNNING') || !existsSync(folder)) throw error
    const hint = `Its log from the time when it ran in the background is in ${folder}.`
    throw new BusbarError('APP_NOT_RUNNING', { message: error.message, hint, cause: error })
  }
}

function parsePattern(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch (cause) {
    throw new BusbarError('USAGE', { message: `--grep: ${(cause as Error).message}`, cause })
  }
}

/** Lines are in pino's format. */
function prettyLine(colors: boolean): (line: string) => string {
  const format = createPrettyFormat(colors)
  return (line) => {
    const fields = JSON.parse(line) as { level: number; time: number; service?: string; worker?: number }
    const { level, time, service, worker } = fields
    return format({ level, time, service, worker, content: { kind: 'json', text: line, fields } })
  }
}

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * `10m` is ten minutes ago; also any date that JavaScript reads. Returns milliseconds since 1970.
 */
function parseSince(text: string, now: number): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? []
  if (count !== undefined) return now - Number(count) * units[unit as keyof typeof units]
  const date = Date.parse(text)
  if (!Number.isNaN(date)) return date
  throw new BusbarError('USAGE', {
    message: `--since "${text}" is neither a span nor a date`,
    hint: 'Write 30s, 10m, 2h, 1d, or 2026-11-23T10:00:00.',
  })
}
