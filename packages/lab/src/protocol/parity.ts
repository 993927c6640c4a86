import { createHash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import type { Expect, LoadRequest } from '../engine/job.ts'

/** What a fresh copy of an arm answers, asked several times before it is loaded. */
export interface Answer {
  readonly status: number
  /** As it came over the wire. */
  readonly body: Buffer
  /** Names in lower case; several lines of one name joined with `, `. */
  readonly headers: Readonly<Record<string, string>>
}

/** A body that a job can carry as text, or the SHA-256 of one that is no text. */
export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly sha256: string }

/** What must be the same in every arm; what varies from answer to answer within one arm is left out of it. */
export interface Likeness {
  readonly status: number
  /** What the body says, decompressed. Null where it is another one each time. */
  readonly body: Content | null
  /** The body as it came over the wire. */
  readonly wire: Content | null
  readonly length: number | null
  /** Null for a value that is another one each time. */
  readonly headers: Readonly<Record<string, string | null>>
}

/** Of the connection, not of the answer: which of them keeps it open, and for how long, is each server's own. */
const hopByHop = ['connection', 'keep-alive', 'transfer-encoding']
/** These tell of the moment or of the client's history, so three equal values in a row promise nothing for a fourth. */
const ofTheMoment = [
  'age',
  'date',
  'expires',
  'ratelimit',
  'ratelimit-limit',
  'ratelimit-policy',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'server-timing',
  'set-cookie',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-request-id',
  'x-response-time',
  'x-runtime',
]
const notCompared = new Set([...hopByHop, ...ofTheMoment])

export function likenessOf(answers: readonly Answer[]): Likeness {
  const [first] = answers as [Answer, ...Answer[]]
  const stable = <T>(pick: (answer: Answer) => T): T | null =>
    answers.every((answer) => isSame(pick(answer), pick(first))) ? pick(first) : null
  const names = new Set(answers.flatMap(({ headers }) => Object.keys(headers)))
  const compared = [...names].filter((name) => !hopByHop.includes(name) && name !== 'date')
  return {
    status: first.status,
    body: stable((answer) => contentOf(decompressed(answer))),
    wire: stable((answer) => contentOf(answer.body)),
    length: stable((answer) => answer.body.length),
    headers: Object.fromEntries(compared.map((name) => [name, stable((answer) => answer.headers[name] ?? null)])),
  }
}

/**
 * How an arm's answers differ from the baseline's, in words; empty where they are alike. An arm with a protocol of its
 * own (`translated`) sends other bytes by its nature, and what those must be its request says: it must only be compressed alike.
 */
export function differences(arm: Likeness, baseline: Likeness, translated: boolean): string[] {
  const found: string[] = []
  const note = (what: string, one: unknown, other: unknown) => {
    if (!isSame(one, other)) found.push(`its ${what} is ${shown(one)}, the baseline's ${shown(other)}`)
  }
  const [own, theirs] = [encodingOf(arm), encodingOf(baseline)]
  note('status', arm.status, baseline.status)
  note('content-encoding', own, theirs)
  if (translated) return found
  if (arm.body !== null && baseline.body !== null) note('body', arm.body, baseline.body)
  else if (arm.length !== null && baseline.length !== null) note("body's length", arm.length, baseline.length)
  for (const name of new Set([...Object.keys(arm.headers), ...Object.keys(baseline.headers)])) {
    // How long a body is once it is compressed, and that it varies by encoding, follow from what is named already.
    if (name === 'content-encoding' || (own !== theirs && ['content-length', 'vary'].includes(name))) continue
    const [one, other] = [arm.headers[name], baseline.headers[name]]
    if (one !== null && other !== null && !notCompared.has(name)) note(name, one, other)
    else if ((one === undefined) !== (other === undefined)) note(name, one, other)
  }
  return found
}

/**
 * The expectation with what it does not say filled in from answers that were seen: every answer must be like them, to the
 * last header.
 */
export function completed(request: LoadRequest, { status, wire, headers }: Likeness): LoadRequest {
  const { expect = {} } = request
  const isHeld = [expect.body, expect.length, expect.sha256, expect.json].some((each) => each !== undefined)
  const demanded = new Set(expect.headers?.map(([name]) => name))
  const seen = Object.entries(headers).filter(([name]) => !demanded.has(name))
  const exact = seen.filter(([name, value]) => value !== null && !notCompared.has(name)) as [string, string][]
  const varying = seen.filter(([name, value]) => value === null && !notCompared.has(name)).map(([name]) => name)
  const whole: Expect = {
    status,
    ...(!isHeld && wire !== null && expectedOf(wire)),
    ...expect,
    headers: [...(expect.headers ?? []), ...exact],
    otherHeaders: [...notCompared, ...varying],
  }
  return { ...request, expect: whole }
}

function expectedOf(content: Content): Expect {
  return content.kind === 'text' ? { body: content.text } : { sha256: content.sha256 }
}

function contentOf(bytes: Buffer): Content {
  if (isUtf8(bytes)) return { kind: 'text', text: bytes.toString() }
  return { kind: 'bytes', sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** A body whose encoding is unknown or broken is compared as it came. */
function decompressed({ body, headers }: Answer): Buffer {
  try {
    return decoders[headers['content-encoding'] ?? '']?.(body) ?? body
  } catch {
    return body
  }
}

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body),
  'x-gzip': (body) => gunzipSync(body),
  deflate: (body) => inflateSync(body),
  br: (body) => brotliDecompressSync(body),
  zstd: (body) => zstdDecompressSync(body),
}

function encodingOf({ headers }: Likeness): string | null | undefined {
  return headers['content-encoding']
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  if (isContent(value)) return value.kind === 'text' ? shown(value.text) : `bytes with the SHA-256 ${value.sha256}`
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}… (${text.length} characters)` : text
}

function isContent(value: unknown): value is Content {
  return typeof value === 'object' && value !== null && 'kind' in value
}
