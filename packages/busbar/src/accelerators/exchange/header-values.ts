/**
 * True if a header value is the same as a string and as bytes on the wire: printable ASCII without
 * a space at its ends. A parser would trim, decode or reject others, so they go as text. Values
 * with tabs are rare and count as others.
 */
export function isWireSafe(value: string): boolean {
  if (known.has(value)) return true
  if (!scan(value)) return false
  // Most values repeat: content types, connection tokens, hosts. A lookup costs a third of a scan.
  if (known.size < maxKnown && value.length < 64) known.add(value)
  return true
}

const maxKnown = 1024
const known = new Set<string>()

function scan(value: string): boolean {
  const { length } = value
  for (let n = 0; n < length; n++) {
    const code = value.charCodeAt(n)
    if (code < 0x20 || code > 0x7e) return false
  }
  return length === 0 || (value.charCodeAt(0) !== 0x20 && value.charCodeAt(length - 1) !== 0x20)
}

/** Text that has the same bytes in ASCII, Latin-1 and UTF-8. */
export function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /^[\0-\x7f]*$/.test(text)
}
