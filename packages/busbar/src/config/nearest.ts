import { distance } from 'fastest-levenshtein'

/** The candidate that was probably meant: at most two slips, or two fifths of the word, away. Undefined if none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(2, Math.floor(word.length * 0.4)) + 1
  for (const candidate of candidates) {
    const slips = distance(word.toLowerCase(), candidate.toLowerCase())
    if (slips < least && slips < Math.max(word.length, candidate.length)) {
      best = candidate
      least = slips
    }
  }
  return best
}
