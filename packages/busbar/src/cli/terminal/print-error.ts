import { BusbarError } from '../../contract/errors.ts'
import { type Output, paint, print } from './terminal.ts'
import { someLines } from '../../shared/output/printable.ts'
import { programStack } from '../../shared/program-stack.ts'

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
    `${paint(output, 'red', 'busbar:')} ${where}${someLines(error.message)} ${paint(output, 'dim', `(${error.code})`)}`,
  ]
  if (error.hint !== undefined) lines.push(`${paint(output, 'cyan', '  hint:')} ${someLines(error.hint)}`)
  const stack = verbose || error.code === 'INTERNAL' ? wholeStack(error) : programStack(error)
  if (stack !== undefined) lines.push('', indent(someLines(stack)))
  return lines.join('\n')
}

function wholeStack(error: Error): string {
  const { cause } = error
  const own = error.stack ?? String(error)
  return cause instanceof Error ? `${own}\ncaused by: ${wholeStack(cause)}` : own
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}
