import { BusbarError } from '../../contract/errors.ts'
import { type Output, paint, print } from './terminal.ts'
import { codeFolder } from '../../shared/package-files.ts'

const ownFolder = codeFolder()

/**
 * Prints what happened, where, what to do, and the program's own stack. `verbose` adds Busbar's
 * frames and the chain of causes. `redact` hides the secrets of the app.
 */
export function printError(
  output: Output,
  thrown: unknown,
  verbose: boolean,
  redact: (text: string) => string = (text) => text,
): void {
  print(output, redact(errorText(output, BusbarError.from(thrown), verbose)))
}

export function errorText(output: Output, error: BusbarError, verbose: boolean): string {
  const where =
    error.service === undefined || error.message.includes(error.service) ? '' : `service '${error.service}': `
  const lines = [
    `${paint(output, 'red', 'busbar:')} ${where}${error.message} ${paint(output, 'dim', `(${error.code})`)}`,
  ]
  if (error.hint !== undefined) lines.push(`${paint(output, 'cyan', '  hint:')} ${error.hint}`)
  const stack = verbose ? wholeStack(error) : programStack(error)
  if (stack !== undefined) lines.push('', indent(stack))
  return lines.join('\n')
}

/** The stack of the program's own error, without the frames of Busbar and Node. */
function programStack(error: BusbarError): string | undefined {
  if (error.code === 'INTERNAL') return wholeStack(error)
  if (!/^(PROGRAM|WORKER)_/.test(error.code)) return undefined
  const stack = error.cause instanceof Error ? error.cause.stack : error.stack
  // An error from a worker carries the program's stack, or Busbar's if no program had thrown.
  if (stack === undefined || stack.startsWith('BusbarError')) return undefined
  const kept = stack.split('\n').filter((line) => !isForeign(line))
  return kept.join('\n')
}

function isForeign(line: string): boolean {
  return /^\s+at /.test(line) && (line.includes('node:internal/') || line.includes(ownFolder))
}

function wholeStack(error: Error): string {
  const { cause } = error
  const own = error.stack ?? String(error)
  return cause instanceof Error ? `${own}\ncaused by: ${wholeStack(cause)}` : own
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}
