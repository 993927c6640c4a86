import type { LogRecord } from './control.ts'

/** How Node begins what it warns of. */
const warning = /^\(node:\d+\) /

/** What Node ends a warning with, the first time. */
const traceHint = /^\(Use `node --trace-/

/** Frames of a stack, and what is indented below a message. */
const continuation = /^(?:\s|$)/

/** True where one write is a warning of Node's: all its lines belong to it. */
export function isWarning(text: string): boolean {
  return warning.test(text)
}

/**
 * The levels of lines that were read from a pipe in one go. A warning may have many lines: those up to its trace hint, else
 * those that are indented. A line that may be an error's is one: who looks for errors must not miss a stack.
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
