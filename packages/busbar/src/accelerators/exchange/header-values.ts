/**
 * A value that means the same as a string and as bytes on a wire: printable ASCII with no space at its ends. All others
 * (a parser trims them, decodes them, or refuses them) go as text. Tabs count as unusual.
 */
export function isPlain(value: string): boolean {
  if (known.has(value)) return true
  if (!scan(value)) return false
  // Most values repeat: content types, connection tokens, hosts. A hash look-up costs a third of the scan.
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
