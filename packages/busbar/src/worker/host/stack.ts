/** Lines of Node's loader and of ours, which say nothing about a program. */
const foreign = (line: string): boolean => line.includes(import.meta.dirname) || line.includes('node:internal/')

/**
 * The error with a stack of the program's own lines: what was thrown stays as it is, since handlers of the program may
 * have it too.
 */
export function withOwnStack(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || typeof thrown.stack !== 'string') return thrown
  const lines = thrown.stack.split('\n')
  const last = lines.findLastIndex((line) => line.startsWith('    at ') && !foreign(line))
  if (last < 0) return thrown
  const own = lines.filter((line, index) => index <= last && !line.includes(import.meta.dirname))
  return Object.create(thrown, { stack: { value: own.join('\n') } }) as Error
}
