/**
 * Where a JSON text stops being one, as `line 3, column 8` with the line itself. V8 gives no position for an
 * unexpected token, but only a text that reaches the token fails with that message, so it can be searched for.
 */
export function positionText(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const said = /at position (\d+)/.exec(message)
  const at = said ? Number(said[1]) : isUnexpectedToken(message) ? firstBadToken(text) : text.trimEnd().length
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

/** The line with a mark under the column; of a very long one, what is around it. */
function excerpt(line: string, column: number): string {
  const from = Math.max(0, column - 60)
  return `  ${line.slice(from, from + 100).trimEnd()}\n  ${' '.repeat(column - 1 - from)}^`
}

/** Messages end up in logs: a secret does not belong there. What is behind it keeps its column. */
function withoutToken(line: string): string {
  return line.replaceAll(
    /("token"\s*:\s*")((?:[^"\\]|\\.)*)/g,
    (_, key: string, token: string) => key + '*'.repeat(token.length),
  )
}
