import type { LogRecord } from '../control-messages.ts'

/** From the least severe on. */
export const logLevels: readonly LogRecord['level'][] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** The start of a Node warning. */
const warning = /^\(node:\d+\) /

/** The end of a Node warning, the first time. */
const traceHint = /^\(Use `node --trace-/

/** Stack frames, and other indented lines. */
const continuation = /^(?:\s|$)/

/** True if one write is a Node warning: all its lines belong to it. */
export function isWarning(text: string): boolean {
  return warning.test(text)
}

/**
 * The levels of lines that one read from a pipe returned. A warning may span lines: up to its trace
 * hint, else the indented ones. If in doubt, a line is an error: a search for errors must not miss
 * a stack.
 */
export function levelsOfStderr(lines: readonly string[]): LogRecord['level'][] {
  const levels: LogRecord['level'][] = []
  while (levels.length < lines.length) {
    const length = warningLength(lines, levels.length)
    for (let line = 0; line < length; line++) levels.push('warn')
    if (length === 0) levels.push('error')
  }
  return levels
}

function warningLength(lines: readonly string[], start: number): number {
  if (traceHint.test(lines[start]!)) return 1
  if (!warning.test(lines[start]!)) return 0
  const next = lines.findIndex((line, index) => index > start && (traceHint.test(line) || warning.test(line)))
  if (next >= 0 && traceHint.test(lines[next]!)) return next - start + 1
  let end = start + 1
  while (end < lines.length && continuation.test(lines[end]!)) end++
  return end - start
}

/** A line of one service, or of one process. */
export type OutputLine = Pick<LogRecord, 'line' | 'stream' | 'level' | 'continues'>
