/** The two ways to pick an instance: by load, and by key. */
let rotation = 0

/**
 * The candidate with the least load. There are few, so all are compared (power of all choices).
 * Equal ones rotate: many services answer so fast that every instance is idle whenever it is
 * compared. `loadOf` returns Infinity for candidates that must not be picked.
 */
export function pickLeastLoaded<T>(candidates: readonly T[], loadOf: (candidate: T) => number): T | undefined {
  rotation = (rotation + 1) >>> 0
  const count = candidates.length
  const first = rotation % count
  let best: T | undefined
  let least = Infinity
  for (let step = 0; step < count; step++) {
    const candidate = candidates[first + step < count ? first + step : first + step - count]!
    const load = loadOf(candidate)
    if (load >= least) continue
    best = candidate
    least = load
  }
  return best
}

/**
 * The less loaded of two candidates that are picked at random: power of two choices (Mitzenmacher,
 * 2001). For loads that are known late: everybody would send to the least loaded one at once. Only
 * those two loads are asked for, however many candidates there are.
 */
export function pickOfTwo<T>(candidates: readonly T[], loadOf: (candidate: T) => number): T | undefined {
  const count = candidates.length
  if (count < 2) return candidates[0]
  const first = Math.floor(Math.random() * count)
  const second = (first + 1 + Math.floor(Math.random() * (count - 1))) % count
  const one = candidates[first]!
  const other = candidates[second]!
  return loadOf(one) <= loadOf(other) ? one : other
}

/**
 * Rendezvous hashing (Thaler and Ravishankar, 1996). Every caller computes a score of each instance
 * for the key and picks the highest, so all callers agree without communicating. When an instance
 * leaves, only its own keys move. A new one takes an equal share from all others.
 */
export function pickByKey<T>(key: string, candidates: readonly T[], indexOf: (candidate: T) => number): T | undefined {
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

/** From 0, below 1: the same for the same key everywhere. */
export function fractionOf(key: string): number {
  return (mixed(hashOf(key)) >>> 0) / 2 ** 32
}

/** FNV-1a over UTF-16 units. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return hash
}

/** The finaliser of MurmurHash3, in which every bit depends on every other. Not negative. */
function mixed(value: number): number {
  let bits = value ^ (value >>> 16)
  bits = Math.imul(bits, 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
