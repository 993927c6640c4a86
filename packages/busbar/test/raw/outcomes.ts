import { answersIn, type RawAnswer } from './parse-responses.ts'
import { corpus } from './corpus/corpus.ts'
import type { Corpus, RawCase } from './corpus/request.ts'
import { exchangeRaw } from './raw-client.ts'

/** The outcome of one case: what the client received. The bodies show what the service saw. */
export interface Outcome {
  readonly ended: boolean
  readonly answers: readonly RawAnswer[]
}

/** Runs these cases of a corpus against one port. */
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
  const { bytes, ended } = await exchangeRaw(port, pieces)
  return { ended, answers: answersIn(bytes, /^\s*HEAD /.test(pieces[0]!) ? ['HEAD'] : []) }
}

/** An outcome as text, for comparisons and messages. */
export function formatOutcome({ ended, answers }: Outcome): string {
  return [...answers.map(formatAnswer), ended ? 'closed' : 'still open'].join('\n')
}

/**
 * The part of an outcome that must be the same under plain Node and through the gateway: the status
 * of each response, and what the service saw. Without the gateway's own texts and the fields it
 * adds.
 */
export function formatCommonOutcome({ ended, answers }: Outcome): string {
  const lines = answers.map((answer) => {
    const seen = seenIn(answer)
    if (answer.status >= 400 || seen === undefined) return `${answer.status}${answer.status < 400 ? answer.body : ''}`
    return `${answer.status} ${answer.reason} ${answer.whole} ${JSON.stringify(withoutGatewayFields(seen))}`
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

const gatewayFields = /^x-forwarded-(?:for|proto|host|prefix)$/

function withoutGatewayFields(seen: Seen): Seen {
  const fields = seen.fields.flatMap((name, at) =>
    at % 2 === 1 || gatewayFields.test(name) ? [] : [`${name}: ${seen.fields[at + 1]}`],
  )
  const headers = Object.fromEntries(Object.entries(seen.headers).filter(([name]) => !gatewayFields.test(name)))
  return { ...seen, fields, headers }
}

function formatAnswer({ version, status, reason, fields, body, trailers, whole }: RawAnswer): string {
  return `${version} ${status} ${reason}\n  ${fields.join('\n  ')}\n  ${body}\n  ${trailers}${whole ? '' : '\n  (cut)'}`
}
