import { resolve } from 'node:path'
import type { CommandContext } from './command.ts'

/** The folder or file on the command line as an absolute path. */
export function resolveOperand({ operands, terminal }: Pick<CommandContext, 'operands' | 'terminal'>): string {
  return resolve(terminal.cwd, operands[0] ?? '.')
}
