import type * as z from 'zod'
import { BusbarError } from '../../../contract/errors.ts'
import { dropDeadLetter, listQueue, retryDeadLetter } from '../../../supervisor/admin/operations/queue.ts'
import type { AdminClient } from '../../../supervisor/admin/api-client.ts'
import { findRun } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { printError } from '../../terminal/print-error.ts'
import { type Output, paint, print } from '../../terminal/terminal.ts'
import { oneLine } from '../../../shared/output/printable.ts'

/** Milliseconds. A queue that waits for its server says what is wrong with that after 10 s. */
const timeout = 30_000

type Queue = z.output<typeof listQueue.output>

/** `busbar queue`: lists the queue of a running app, and retries or drops dead letters. */
export async function queue(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const [action, given] = operands
  const number = action === undefined ? undefined : numberOf(action, given)
  const { admin } = await findRun(flags.app, context)
  if (number === undefined) {
    const limit = Math.min(1_000, Math.max(0, flags.lines ?? 20))
    const fault = faultOf(admin)
    const list = await admin.json(listQueue, { limit }, { timeout })
    printResult(context, list, listText(list, terminal.out))
    const error = await fault
    if (error !== undefined) printError(terminal.err, error, flags.verbose === true)
    return 0
  }
  return await change(action === 'retry' ? 'retry' : 'drop', number, context, admin)
}

async function change(
  action: 'retry' | 'drop',
  number: number | 'all',
  context: CommandContext,
  admin: AdminClient,
): Promise<number> {
  const result =
    action === 'retry'
      ? await admin.json(retryDeadLetter, { number }, { timeout })
      : { ...(await admin.json(dropDeadLetter, { number }, { timeout })), left: 0, reasons: [] }
  const { left, reasons, ...counted } = result
  const isWhole = left === 0
  const given = action === 'retry' ? { ok: isWhole, ...result } : { ok: isWhole, ...counted }
  printResult(context, given, `${action === 'retry' ? 'put back' : 'deleted'}: ${lettersText(result.count)}`)
  if (isWhole) return 0
  const more = left > reasons.length ? [`  and ${left - reasons.length} more`] : []
  const lines = reasons.map(({ number: one, message }) => `  ${one}: ${oneLine(message)}`)
  print(context.terminal.err, [`left: ${lettersText(left)}`, ...lines, ...more].join('\n'))
  return 1
}

function lettersText(count: number): string {
  return `${count} dead ${count === 1 ? 'letter' : 'letters'}`
}

/**
 * Why no item can be added or begun, though the queue can be read: its user may not write it, or
 * the disk is full. Never rejects.
 */
async function faultOf(admin: AdminClient): Promise<BusbarError | undefined> {
  try {
    await admin.json(listQueue, { limit: 0, check: 'true' }, { timeout })
    return undefined
  } catch (error) {
    return BusbarError.from(error)
  }
}

function numberOf(action: string, given: string | undefined): number | 'all' {
  const isNumber = given !== undefined && /^[1-9]\d{0,14}$/.test(given)
  if ((action === 'retry' || action === 'drop') && (given === 'all' || isNumber))
    return given === 'all' ? given : Number(given)
  throw new BusbarError('USAGE', {
    message: `queue ${[action, given].filter((word) => word !== undefined).join(' ')} is not a command`,
    hint: 'Write busbar queue, busbar queue retry 17, or busbar queue drop all; the numbers are those of the list.',
  })
}

function listText({ queues, dead }: Queue, out: Output): string {
  if (queues.length === 0) return 'the queue is empty'
  const dim = (names: readonly string[]): string[] => names.map((name) => paint(out, 'dim', name))
  const rows = queues.map((one) => [
    `${one.service}.${one.method}`,
    `${one.waiting}`,
    `${one.running}`,
    one.dead === 0 ? '0' : paint(out, 'red', `${one.dead}`),
  ])
  const lines = alignColumns([dim(['method', 'waiting', 'running', 'dead']), ...rows])
  if (dead.length === 0) return lines.join('\n')
  const letters = dead.map(({ number, service, method, id, attempts, diedAt, code, message }) => [
    `${number}`,
    `${service}.${method}`,
    oneLine(id),
    `${attempts}`,
    new Date(diedAt).toISOString().slice(0, 19),
    oneLine(`${code}: ${message}`),
  ])
  const head = dim(['dead', 'method', 'id', 'attempts', 'died (UTC)', 'why'])
  return [...lines, '', ...alignColumns([head, ...letters])].join('\n')
}
