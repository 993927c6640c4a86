import { createHash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import type { Expect, LoadRequest } from '../engine/job.ts'
import { isSuccess } from '../engine/statuses.ts'

/** An answer of an arm before the load. */
export interface Answer {
  readonly status: number
  /** Not decompressed. */
  readonly body: Buffer
  /** Names in lower case. Several lines of one name are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>
}

/** A body as text, or the SHA-256 of one that is not UTF-8. */
export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly sha256: string }

/** What must be the same in every arm, without what varies between the answers of one arm. */
export interface AnswerProfile {
  readonly status: number
  /** The decompressed body. Null if it varies. */
  readonly body: Content | null
  /** The body before decompression. */
  readonly wire: Content | null
  readonly length: number | null
  /** Null for a value that varies. */
  readonly headers: Readonly<Record<string, string | null>>
}

/** Properties of the connection, which may differ between servers. */
export const hopByHop: readonly string[] = ['connection', 'keep-alive', 'transfer-encoding']
/** Depend on the time or on earlier requests: three equal values do not predict a fourth. */
export const variable: readonly string[] = [
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
const notCompared = new Set([...hopByHop, ...variable])

export function profileOf(answers: readonly Answer[]): AnswerProfile {
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
 * How an arm's answers differ from the baseline's, as text. Empty if they are equal. If one of them
 * has its own protocol (`translated`), the bytes differ, which its request checks: only status and
 * encoding are compared. gRPC has one status for success, HTTP several.
 */
export function differences(arm: AnswerProfile, baseline: AnswerProfile, translated: boolean): string[] {
  const found: string[] = []
  const note = (what: string, one: unknown, other: unknown) => {
    if (!isSame(one, other)) found.push(`its ${what} is ${shown(one)}, the baseline's ${shown(other)}`)
  }
  const [own, theirs] = [encodingOf(arm), encodingOf(baseline)]
  const bothSucceed = isSuccess(arm.status) && isSuccess(baseline.status)
  if (!bothSucceed || (arm.status !== 0 && baseline.status !== 0)) note('status', arm.status, baseline.status)
  note('content-encoding', own, theirs)
  if (translated) return found
  if (arm.body !== null && baseline.body !== null) note('body', arm.body, baseline.body)
  else if (arm.length !== null && baseline.length !== null) note("body's length", arm.length, baseline.length)
  for (const name of new Set([...Object.keys(arm.headers), ...Object.keys(baseline.headers)])) {
    // A different content-encoding, reported above, implies these differences.
    if (name === 'content-encoding' || (own !== theirs && ['content-length', 'vary'].includes(name))) continue
    const [one, other] = [arm.headers[name], baseline.headers[name]]
    if (one !== null && other !== null && !notCompared.has(name)) note(name, one, other)
    else if ((one === undefined) !== (other === undefined)) note(name, one, other)
  }
  return found
}

/**
 * Completes the request's expectation: every answer must equal those before the load, including all
 * headers.
 */
export function withExpectations(request: LoadRequest, { status, wire, headers }: AnswerProfile): LoadRequest {
  const { expect = {} } = request
  const checksBody = [expect.body, expect.length, expect.sha256, expect.message, expect.json].some(
    (each) => each !== undefined,
  )
  const demanded = new Set(expect.headers?.map(([name]) => name))
  const seen = Object.entries(headers).filter(([name]) => !demanded.has(name))
  const exact = seen.filter(([name, value]) => value !== null && !notCompared.has(name)) as [string, string][]
  const varying = seen.filter(([name, value]) => value === null && !notCompared.has(name)).map(([name]) => name)
  const whole: Expect = {
    status,
    ...(!checksBody && wire !== null && expectedOf(wire)),
    ...expect,
    headers: [...(expect.headers ?? []), ...exact],
    otherHeaders: [...notCompared, ...varying],
  }
  return { ...request, expect: whole }
}

function expectedOf(content: Content): Expect {
  return content.kind === 'text' ? { body: content.text } : { sha256: content.sha256 }
}

export function contentOf(bytes: Buffer): Content {
  if (isUtf8(bytes)) return { kind: 'text', text: bytes.toString() }
  return { kind: 'bytes', sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** A body with an unknown or invalid encoding is not decompressed. */
export function decompressed({ body, headers }: Answer): Buffer {
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

function encodingOf({ headers }: AnswerProfile): string | null | undefined {
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
