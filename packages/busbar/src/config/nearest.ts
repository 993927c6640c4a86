import { distance } from 'fastest-levenshtein'

/**
 * The candidate that was probably meant: with an edit distance of at most two, or 40 % of the
 * word's length. Else undefined.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let fewest = Math.max(2, Math.floor(word.length * 0.4)) + 1
  for (const candidate of candidates) {
    const typos = distance(word.toLowerCase(), candidate.toLowerCase())
    if (typos < fewest && typos < Math.max(word.length, candidate.length)) {
      best = candidate
      fewest = typos
    }
  }
  return best
}
