import { once } from 'node:events'
import { Recoverable, start } from 'node:repl'
import { createInterface } from 'node:readline'
import { BusbarError } from '../../../contract/errors.ts'
import { evaluateCode } from '../../../supervisor/admin/operations/diagnostics.ts'
import { findRun } from '../../admin/find-runs.ts'
import type { CommandContext } from '../../command.ts'
import { errorText } from '../../terminal/print-error.ts'
import { print } from '../../terminal/terminal.ts'

/** Runs code in the worker. Never rejects: `text` is the result or the error. */
type Evaluate = (code: string) => Promise<{ readonly text: string; readonly isIncomplete: boolean }>

/**
 * `busbar repl`: reads JavaScript here, runs it in a worker of the service, and prints the results.
 */
export async function repl(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const service = operands[0]!
  const { admin } = await findRun(flags.app, context)
  const { instance } = flags
  const { colors } = terminal.out
  // Fails now if the service does not run Node.
  await admin.json(evaluateCode, { service, code: '0', instance })
  const evaluate: Evaluate = async (code) => {
    try {
      const { ok, text, isIncomplete } = await admin.json(evaluateCode, { service, code, instance, colors })
      return { text: ok ? text : `Uncaught ${text}`, isIncomplete }
    } catch (error) {
      return { text: errorText(terminal.err, BusbarError.from(error), flags.verbose === true), isIncomplete: false }
    }
  }
  if (terminal.out.isTerminal && process.stdin.isTTY) await interact(evaluate, `${service}> `, context)
  else await runLines(evaluate, context)
  return 0
}

async function interact(evaluate: Evaluate, prompt: string, { terminal }: CommandContext): Promise<void> {
  const server = start({
    prompt,
    input: process.stdin,
    output: terminal.out.stream,
    eval: (code, _context, _file, answered) =>
      void evaluate(code).then(({ text, isIncomplete }) => {
        if (isIncomplete) answered(new Recoverable(new SyntaxError(text)), undefined)
        else answered(null, text)
      }),
    // Results are texts already.
    writer: String,
  })
  await once(server, 'exit')
}

/** Standard input is a file or a pipe: no prompt, one statement after the other. */
async function runLines(evaluate: Evaluate, { terminal: { out } }: CommandContext): Promise<void> {
  let code = ''
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line.trim() === '.exit') return
    code += `${line}\n`
    const { text, isIncomplete } = await evaluate(code)
    if (isIncomplete) continue
    code = ''
    if (text !== '') print(out, text)
  }
  if (code.trim() !== '') print(out, (await evaluate(code)).text)
}
