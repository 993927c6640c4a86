/** Texts that callers and programs have chosen, as a terminal may get them. */

/**
 * Text that a caller has chosen, as it can be printed: no character of it moves the cursor, or
 * changes the order or the place of others. Emoji and some scripts need the joiners.
 */
export function oneLine(text: string): string {
  return text.replaceAll(/(?!\p{Join_Control})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escapeUnits)
}

/** As {@link oneLine}, for text of several lines. */
export function someLines(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, oneLine)
}

/** SGR of ECMA-48. It changes the colour of what follows, and nothing else. */
const escape = String.fromCharCode(0x1b)
const colour = new RegExp(`(${escape}\\[[\\d;:]*m)`)
const plain = `${escape}[0m`

/** As {@link someLines}, with the colours of the text, which end with it. */
export function colouredLines(text: string): string {
  const parts = text.split(colour)
  const shown = parts.map((part, index) => (index % 2 === 0 ? someLines(part) : part)).join('')
  return parts.length > 1 ? `${shown}${plain}` : shown
}

/** JSON has the same characters as escapes, so that it can be printed too. */
export function printableJson(value: object): string {
  return JSON.stringify(value, undefined, 2).replaceAll(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, escapeUnits)
}

function escapeUnits(text: string): string {
  return text.split('').map(escapeUnit).join('')
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
