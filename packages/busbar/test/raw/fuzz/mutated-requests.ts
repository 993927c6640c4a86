import { corpus } from '../corpus/corpus.ts'
import type { Corpus, RawCase } from '../corpus/request.ts'
import { typed } from '../corpus/typed.ts'
import { placements, typedPlacements } from '../placements.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'

const longest = 6000

/** The corpus, each case as one text. Large cases are left out: a run would do little else. */
const seeds = seedsOf(corpus)
const typedSeeds = seedsOf(typed)

function seedsOf(cases: Corpus): string[] {
  return Object.values(cases)
    .map((pieces) => pieces.join(''))
    .filter((text) => text !== '' && text.length < longest / 2)
}

const tokens = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ':',
  ' ',
  '\t',
  ';',
  ',',
  '"',
  '\xff',
  '0\r\n\r\n',
  'ffffffff',
  'chunked',
  '%2e%2e',
  '..',
  'Content-Length: 0\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: upgrade\r\nUpgrade: websocket\r\n',
  'Connection: close\r\n',
  'Expect: 100-continue\r\n',
  'Connection: content-length\r\n',
  'Trailer: x\r\n',
  'X: \xff\r\n',
  'Host: admin.example\r\n',
  'http://admin.example',
  'HTTP/1.1',
  'HTTP/1.0',
  'OPTIONS * HTTP/1.1',
  'Busbar-Hops: 99\r\n',
  '?stream',
  '?trailers',
  '?hints',
  '?early',
  '?late',
  '?hangup',
  '?half',
  '?close',
  '?upgrade-required',
  '?refuse',
  ...placements.map((placement) => `/${placement}`),
]

/** A request of the corpus, mutated in a few places, to a service in any placement. */
export function anyRequest(chance: SeededRandom): RawCase {
  const path = `/${chance.of(placements)}`
  return anyOf(seeds, chance, (text) => text.replaceAll(/\/(?:shop|admin)\b/g, path), tokens)
}

const typedTokens = [
  '$bigint',
  '$map',
  '$undefined',
  '__proto__',
  'null',
  '{',
  '}',
  '[',
  ']',
  '\\ud800',
  '1e999',
  '\xed\xa0\x80',

  'Content-Type: application/json\r\n',
  'Busbar-Timeout: 1\r\n',
  'Accept: text/event-stream\r\n',
  '?$input=',
  '%7B',
  ...tokens,
]

/** The same for a typed service. */
export function anyTypedRequest(chance: SeededRandom): RawCase {
  const path = `/${chance.of(typedPlacements)}`
  return anyOf(typedSeeds, chance, (text) => text.replaceAll('/api', path), typedTokens)
}

function anyOf(
  from: readonly string[],
  chance: SeededRandom,
  place: (text: string) => string,
  words: readonly string[],
): RawCase {
  let text = place(chance.of(from))
  for (let left = chance.below(6); left >= 0; left--) text = mutate(text, chance, words)
  const whole = text.slice(0, longest)
  const cut = chance.below(8) === 0 ? chance.below(whole.length) : 0
  return cut === 0 ? [whole] : [whole.slice(0, cut), whole.slice(cut)]
}

/** Mutates the text in one place. Each character stands for one byte. */
export function mutate(text: string, chance: SeededRandom, words: readonly string[] = tokens): string {
  const at = chance.below(text.length + 1)
  const [ahead, behind] = [text.slice(0, at), text.slice(at)]
  switch (chance.below(7)) {
    case 0:
      return ahead + String.fromCharCode(chance.below(256)) + behind.slice(1)
    case 1:
      return ahead + chance.of(words) + behind
    case 2:
      return ahead + behind.slice(1 + chance.below(20))
    case 3:
      return ahead + behind.slice(0, 1 + chance.below(60)) + behind
    case 4: {
      const other = chance.of(seeds)
      return ahead + other.slice(chance.below(other.length))
    }
    case 5:
      return (
        ahead + String.fromCharCode(...Array.from({ length: 1 + chance.below(8) }, () => chance.below(256))) + behind
      )
    default:
      return text + chance.of(seeds)
  }
}
