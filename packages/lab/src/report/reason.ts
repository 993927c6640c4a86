/** Why an arm could not run, in one line. */

/**
 * A reason on one line. A program's output follows the first line; its line with the error is the
 * useful one.
 */
export function reasonText(reason: string): string {
  const [first = '', ...output] = reason.split('\n')
  if (!first.endsWith(':')) return first
  const said = output.map(loggedText).filter((line) => line.trim() !== '')
  const end = /^(?:exit code \d+|ended by SIG\w+)$/.test(said.at(-1) ?? '') ? said.pop() : undefined
  const words = wordsOf(said).map((line) => line.trim())
  if (words.length === 0 && end === undefined) return first.slice(0, -1)
  return [first, ...(words.length > 0 ? [words.join(' / ')] : []), ...(end === undefined ? [] : [`(${end})`])].join(' ')
}

/** Of the output of a program that named no error. */
const lastLines = 3

/** Of what a program said, the lines that tell most. */
function wordsOf(said: readonly string[]): readonly string[] {
  // Without the line of code that threw, and the stack of a program that exited.
  const isError = (line: string): boolean =>
    /^(?:busbar: .*|\W*(?:\w+ )?)\b\w*Error\b[^(]*:/.test(line) && !isExit(line)
  const named = said.findIndex(isError)
  if (named !== -1) return said.slice(named, named + (isHeading(said, named) ? 2 : 1))
  const exit = said.findIndex((line) => line.startsWith('busbar: ') && line.includes('process.exit('))
  if (exit !== -1) return said.slice(Math.max(0, exit + 1 - lastLines), exit + 1)
  const other = said.find((line) => /Error\b/.test(line) && !isExit(line))
  const error = other ?? said.find((line) => line.startsWith('busbar: '))
  return error === undefined ? said.slice(-lastLines) : [error]
}

/** `TSError: unable to compile:`, which the next line explains. */
function isHeading(said: readonly string[], at: number): boolean {
  return said[at]!.endsWith(':') && !/^\s*at /.test(said[at + 1] ?? '')
}

function isExit(line: string): boolean {
  return /\bError: process\.exit\(/.test(line)
}

/** The message of a line of JSON, as loggers write it, without its stack. */
function loggedText(line: string): string {
  const [, text] = /^\s*\{.*"(?:msg|message)":("(?:[^"\\]|\\.)*")/.exec(line) ?? []
  if (text === undefined) return line
  try {
    return (JSON.parse(text) as string).split('\n')[0]!
  } catch {
    return line
  }
}
