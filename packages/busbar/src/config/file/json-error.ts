/**
 * The reason and the position of a JSON syntax error, with the line that has it. V8 gives no
 * position for an unexpected token. A prefix of the text fails with that message only if it
 * includes the token, so a binary search finds it.
 */
export function describeJsonError(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const position = /at position (\d+)/.exec(message)
  const at = position ? Number(position[1]) : isUnexpectedToken(message) ? firstBadToken(text) : text.trimEnd().length
  const before = text.slice(0, at).split('\n')
  const column = before.at(-1)!.length + 1
  const line = text.split('\n')[before.length - 1] ?? ''
  const reason = message.replace(/,? ?(in JSON )?at position.*$/s, '').replace(/, (\.\.\.)?".*$/s, '')
  return `${reason}, at line ${before.length}, column ${column}\n${excerpt(withoutToken(line), column)}`
}

function firstBadToken(text: string): number {
  let [good, bad] = [0, text.length]
  while (good + 1 < bad) {
    const middle = (good + bad) >> 1
    if (failsByToken(text.slice(0, middle))) bad = middle
    else good = middle
  }
  return bad - 1
}

function failsByToken(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    return isUnexpectedToken((error as Error).message)
  }
}

function isUnexpectedToken(message: string): boolean {
  return message.startsWith('Unexpected token')
}

/** The line with a mark below the column. A long line is cut around it. */
function excerpt(line: string, column: number): string {
  const from = Math.max(0, column - 60)
  return `  ${line.slice(from, from + 100).trimEnd()}\n  ${' '.repeat(column - 1 - from)}^`
}

/** Hides a token, since messages end up in logs. The length stays the same, and so do columns. */
function withoutToken(line: string): string {
  return line.replaceAll(
    /("token"\s*:\s*")((?:[^"\\]|\\.)*)/g,
    (_, key: string, token: string) => key + '*'.repeat(token.length),
  )
}
