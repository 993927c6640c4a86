import { answersIn, type RawAnswer } from './answers.ts'
import { corpus } from './corpus/corpus.ts'
import type { Corpus, RawCase } from './corpus/request.ts'
import { talk } from './talk.ts'

/** What came of one case: for the client, and by its body for the service. */
export interface Outcome {
  readonly ended: boolean
  readonly answers: readonly RawAnswer[]
}

/** These cases of a corpus at one port. */
export async function outcomesAt(
  port: number,
  names: readonly string[],
  cases: Corpus = corpus,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>()
  const left = [...names]
  const work = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift())
      outcomes.set(name, await outcomeOf(port, cases[name]!))
  }
  await Promise.all(Array.from({ length: 16 }, work))
  return outcomes
}

async function outcomeOf(port: number, pieces: RawCase): Promise<Outcome> {
  const { bytes, ended } = await talk(port, pieces)
  return { ended, answers: answersIn(bytes, /^\s*HEAD /.test(pieces[0]!) ? ['HEAD'] : []) }
}

/** An outcome as text, so that two can be compared and shown. */
export function told({ ended, answers }: Outcome): string {
  return [...answers.map(toldAnswer), ended ? 'closed' : 'still open'].join('\n')
}

/**
 * What an outcome under plain Node and one through the gateway must have in common: the status of
 * each answer, and what the service saw. What the gateway says in its own words, and the fields it
 * adds, are apart.
 */
export function toldPlainly({ ended, answers }: Outcome): string {
  const lines = answers.map((answer) => {
    const seen = seenIn(answer)
    if (answer.status >= 400 || seen === undefined) return `${answer.status}${answer.status < 400 ? answer.body : ''}`
    return `${answer.status} ${answer.reason} ${answer.whole} ${JSON.stringify(withoutOurs(seen))}`
  })
  return [...lines, ended ? 'closed' : 'still open'].join('\n')
}

interface Seen {
  readonly service: string
  readonly fields: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly [key: string]: unknown
}

function seenIn({ body }: RawAnswer): Seen | undefined {
  try {
    const [first, ...rest] = body.split('\n')
    const value: unknown = JSON.parse(first!)
    return typeof value === 'object' && value !== null && 'service' in value && 'method' in value
      ? ({ ...value, behind: rest.join('\n') } as unknown as Seen)
      : undefined
  } catch {
    return undefined
  }
}

const ours = /^x-forwarded-(?:for|proto|host|prefix)$/

function withoutOurs(seen: Seen): Seen {
  const fields = seen.fields.flatMap((name, at) =>
    at % 2 === 1 || ours.test(name) ? [] : [`${name}: ${seen.fields[at + 1]}`],
  )
  const headers = Object.fromEntries(Object.entries(seen.headers).filter(([name]) => !ours.test(name)))
  return { ...seen, fields, headers }
}

function toldAnswer({ version, status, reason, fields, body, trailers, whole }: RawAnswer): string {
  return `${version} ${status} ${reason}\n  ${fields.join('\n  ')}\n  ${body}\n  ${trailers}${whole ? '' : '\n  (cut)'}`
}
