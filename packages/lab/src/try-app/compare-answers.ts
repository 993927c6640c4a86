import { contentOf, decompressed, hopByHop, variable, type Answer } from '../protocol/parity.ts'
import type { Samples } from './replay.ts'
import type { AnswerDifference, IgnoredPart } from './tried-app.ts'

export interface Compared {
  readonly differences: readonly AnswerDifference[]
  readonly ignored: readonly IgnoredPart[]
}

/**
 * Compares the answers to one request. `today`: of one or two starts of the baseline. What differs
 * between those is not compared: a counter, a process id, the time.
 */
export function compareAnswers(today: readonly Samples[], here: Samples): Compared {
  const starts = today.map((samples) => samples.map(partsOf))
  const all = starts.flat()
  const own = here.map(partsOf)
  const changing = new Map<string, string>()
  const inSome = new Set<string>()
  const names = new Set([...all, ...own].flatMap((parts) => [...parts.keys()]))
  for (const part of names) {
    const why = whyIgnored(part, starts)
    if (why === undefined) continue
    if (isThroughout(part, all) === isThroughout(part, own)) changing.set(part, why)
    else inSome.add(part)
  }
  const bodyChanges = [...changing.keys()].some((part) => part.startsWith('body'))
  const differences: AnswerDifference[] = []
  for (const part of names) {
    if (changing.has(part)) continue
    if (bodyChanges && followsBody.has(part)) {
      changing.set(part, 'follows from the body, which changes')
      continue
    }
    if (inSome.has(part)) {
      differences.push({ part, today: valueIn(part, all), here: valueIn(part, own) })
      continue
    }
    const expected = all[0]!.get(part) ?? null
    const other = own.find((parts) => (parts.get(part) ?? null) !== expected)
    if (other !== undefined) differences.push({ part, today: short(expected), here: short(other.get(part) ?? null) })
  }
  const bodyDiffers = differences.some(({ part }) => part.startsWith('body'))
  const causes = differences.filter(({ part }) => !(bodyDiffers && followsBody.has(part)))
  return {
    differences: causes.slice(0, maxDifferences),
    ignored: [...changing].map(([part, why]) => ({ part, why })),
  }
}

/** A part whose value changes must still be there, or not, in all answers that there were. */
function isThroughout(part: string, answers: readonly ReadonlyMap<string, string>[]): boolean {
  if (part === 'answer' || part.startsWith('body')) return true
  return answers.every((parts) => parts.has(part) || parts.has('answer'))
}

/** Of a part that changes. Null if it is not in each of them. */
function valueIn(part: string, answers: readonly ReadonlyMap<string, string>[]): string | null {
  return isThroughout(part, answers) ? short(answers[0]!.get(part) ?? null) : null
}

const maxDifferences = 10
/** Lines of a text, and values of a JSON document, that are compared one by one. */
const maxParts = 2000

const followsBody: ReadonlySet<string> = new Set(
  ['content-length', 'etag', 'last-modified', 'digest', 'content-digest', 'content-md5'].map(
    (name) => `header ${name}`,
  ),
)
const byName: ReadonlyMap<string, string> = new Map(
  variable
    .filter((name) => name !== 'set-cookie')
    .map((name) => [`header ${name}`, 'depends on the moment or on earlier requests']),
)

function whyIgnored(part: string, starts: readonly (readonly Map<string, string>[])[]): string | undefined {
  const named = byName.get(part)
  if (named !== undefined) return named
  const values = starts.map((start) => new Set(start.map((parts) => parts.get(part))))
  if (values.some((seen) => seen.size > 1)) return 'changes from answer to answer today'
  return new Set(values.flatMap((seen) => [...seen])).size > 1 ? 'changes from start to start today' : undefined
}

/** An answer as named parts. */
function partsOf(answer: Answer | string): Map<string, string> {
  // An arm has other ports at each start.
  if (typeof answer === 'string') return new Map([['answer', `none: ${answer.replace(/ \S+:\d+$/, '')}`]])
  const parts = new Map([['status', `${answer.status}`]])
  for (const [name, value] of Object.entries(answer.headers)) {
    if (hopByHop.includes(name)) continue
    parts.set(`header ${name}`, name === 'set-cookie' ? withoutCookieValues(value) : value)
  }
  for (const [part, value] of bodyParts(answer)) parts.set(part, value)
  return parts
}

/** Names and attributes of cookies are compared. Their values are new for each client. */
function withoutCookieValues(value: string): string {
  return value.replaceAll(/(^|, )([\w.-]+)=[^;,]*/g, '$1$2=…').replaceAll(/expires=[^;]*/gi, 'Expires=…')
}

function bodyParts(answer: Answer): [string, string][] {
  const content = contentOf(decompressed(answer))
  if (content.kind === 'bytes') return [['body', `bytes with the SHA-256 ${content.sha256}`]]
  const { text } = content
  const isJson = /json/.test(answer.headers['content-type'] ?? '') || /^\s*[[{]/.test(text)
  const values = isJson ? jsonParts(text) : undefined
  if (values !== undefined && values.length <= maxParts) return values
  const lines = text.split('\n')
  if (lines.length === 1 || lines.length > maxParts) return [['body', text]]
  return lines.map((line, index) => [`body line ${index + 1}`, line])
}

/** JSON pointers (RFC 6901) of all leaves. Undefined if it is no JSON. */
function jsonParts(text: string): [string, string][] | undefined {
  const found: [string, string][] = []
  const walk = (value: unknown, pointer: string): void => {
    if (found.length > maxParts) return
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
    if (entries.length === 0) found.push([`body ${pointer}`.trim(), JSON.stringify(value)])
    for (const [key, inner] of entries) walk(inner, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  }
  try {
    walk(JSON.parse(text), '')
    return found
  } catch {
    return undefined
  }
}

function short(value: string | null): string | null {
  return value === null || value.length <= 200 ? value : `${value.slice(0, 200)}… (${value.length} characters)`
}
