import type { BusbarError } from '../contract/errors.ts'
import { codeFolder } from './package-files.ts'

const ownFolder = codeFolder()

/**
 * The stack of the program's own error, without the frames of Busbar and Node; undefined if no
 * program has thrown. Starts with the message.
 */
export function programStack(error: BusbarError): string | undefined {
  if (!/^(PROGRAM|WORKER)_/.test(error.code)) return undefined
  const stack = error.cause instanceof Error ? error.cause.stack : error.stack
  // An error from a worker carries the program's stack, or Busbar's if no program had thrown.
  if (stack === undefined || stack.startsWith('BusbarError')) return undefined
  return stack
    .split('\n')
    .filter((line) => !isForeign(line))
    .join('\n')
}

function isForeign(line: string): boolean {
  return /^\s+at /.test(line) && (line.includes('node:internal/') || line.includes(ownFolder))
}
