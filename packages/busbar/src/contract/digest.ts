/** A short text that differs for different texts. */
export function digest(text: string): string {
  return hash(text, 0x811c9dc5) + hash(text, 0x050c5d1f)
}

/** FNV-1a over UTF-16 units. */
function hash(text: string, seed: number): string {
  let value = seed
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return (value >>> 0).toString(36).padStart(7, '0')
}
