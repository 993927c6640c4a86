import { BusbarError } from '../../../contract/errors.ts'
import { callMethod } from '../../../supervisor/admin/operations/calls.ts'
import { findRun } from '../../admin/find-runs.ts'
import type { CommandContext } from '../../command.ts'
import { type Terminal, print } from '../../terminal/terminal.ts'

/** `busbar call`: calls a method of a typed service and prints its result. */
export async function call(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const [service, method, json] = operands as [string, string, string?]
  const input = json === undefined ? {} : { input: parseInput(json) }
  const { admin } = await findRun(flags.app, context)
  const timeout = flags.timeout === undefined ? {} : { timeout: flags.timeout }
  try {
    const answer = await admin.json(callMethod, { service, method, ...input, ...timeout })
    if (flags.json) print(terminal.out, JSON.stringify({ ok: true, ...answer }, undefined, 2))
    else if (answer.kind === 'fn') printValue(answer.result, terminal)
    else printStream(answer, terminal)
    return 0
  } catch (error) {
    if (!(error instanceof BusbarError) || !error.declared) throw error
    printDeclared(error, context)
    return 1
  }
}

function parseInput(json: string): never {
  try {
    return JSON.parse(json) as never
  } catch (cause) {
    throw new BusbarError('USAGE', {
      message: `the input is not JSON: ${(cause as Error).message}`,
      hint: `Quote it for your shell: '{"id": 1}'.`,
      cause,
    })
  }
}

function printValue(value: unknown, { out }: Terminal): void {
  if (value !== undefined) print(out, JSON.stringify(value, undefined, out.isTerminal ? 2 : undefined))
}

function printStream({ values, ended }: { values: unknown[]; ended: boolean }, { out, err }: Terminal): void {
  for (const value of values) print(out, JSON.stringify(value))
  if (!ended) print(err, `the stream has more than these ${values.length} values`)
}

/** An error that the method's contract declares is an answer, too. */
function printDeclared({ code, message, data }: BusbarError<string>, { flags, terminal }: CommandContext): void {
  const error = { code, message, ...(data !== undefined && { data }) }
  if (flags.json) print(terminal.out, JSON.stringify({ ok: false, error }, undefined, 2))
  else print(terminal.err, `${message}${data === undefined ? '' : `: ${JSON.stringify(data)}`} (${code})`)
}
