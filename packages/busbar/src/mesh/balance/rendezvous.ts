/**
 * Rendezvous hashing (Thaler and Ravishankar, 1996): every caller gives each instance a score for the key and takes the
 * highest, so all agree without a word. An instance that leaves re-homes its own keys only, and one that comes takes its
 * share from all others alike.
 */
export function rendezvous<T>(key: string, candidates: readonly T[], indexOf: (candidate: T) => number): T | undefined {
  const hash = hashOf(key)
  let best: T | undefined
  let highest = -1
  for (const candidate of candidates) {
    const score = mixed(hash ^ mixed(indexOf(candidate) + 1))
    if (score <= highest) continue
    best = candidate
    highest = score
  }
  return best
}

/** FNV-1a over UTF-16 units. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return hash
}

/** The finaliser of MurmurHash3, which makes every bit depend on every other. Not negative. */
function mixed(value: number): number {
  let bits = value ^ (value >>> 16)
  bits = Math.imul(bits, 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
