import type { Expect, LoadRequest } from '../engine/job.ts'

/** What a fresh copy of an arm answers, asked several times before it is loaded. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** What must be the same in every arm; what varies from answer to answer within one arm is left out of it. */
export interface Likeness {
  readonly status: number
  /** Null where it is another one each time. */
  readonly body: string | null
  readonly length: number | null
  /** Null for a value that is another one each time. */
  readonly headers: Readonly<Record<string, string | null>>
}

/** Of the connection, not of the answer: which of them keeps it open, and for how long, is each server's own. */
const hopByHop = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding'])

export function likenessOf(answers: readonly Answer[]): Likeness {
  const [first] = answers as [Answer, ...Answer[]]
  const stable = <T>(pick: (answer: Answer) => T): T | null =>
    answers.every((answer) => pick(answer) === pick(first)) ? pick(first) : null
  const names = Object.keys(first.headers).filter((name) => !hopByHop.has(name))
  return {
    status: first.status,
    body: stable((answer) => answer.body),
    length: stable((answer) => Buffer.byteLength(answer.body)),
    headers: Object.fromEntries(names.map((name) => [name, stable((answer) => answer.headers[name] ?? null)])),
  }
}

/**
 * How an arm's answers differ from the baseline's, in words; empty where they are alike. An arm with a protocol of its
 * own (`translated`) sends other bytes by its nature, and what those must be its request says: it must only be compressed alike.
 */
export function differences(arm: Likeness, baseline: Likeness, translated: boolean): string[] {
  const found: string[] = []
  const note = (what: string, one: unknown, other: unknown) => {
    if (one !== other) found.push(`its ${what} is ${shown(one)}, the baseline's ${shown(other)}`)
  }
  note('status', arm.status, baseline.status)
  if (translated) {
    note('content-encoding', arm.headers['content-encoding'], baseline.headers['content-encoding'])
    return found
  }
  if (arm.body !== null && baseline.body !== null) note('body', arm.body, baseline.body)
  else if (arm.length !== null && baseline.length !== null) note("body's length", arm.length, baseline.length)
  for (const name of new Set([...Object.keys(arm.headers), ...Object.keys(baseline.headers)])) {
    const [one, other] = [arm.headers[name], baseline.headers[name]]
    if (one !== null && other !== null) note(name, one, other)
    else if ((one === undefined) !== (other === undefined)) note(name, one, other)
  }
  return found
}

/** The expectation with what it does not say filled in from answers that were seen: every answer must be like them. */
export function completed(request: LoadRequest, { status, body, headers }: Likeness): LoadRequest {
  const { expect = {} } = request
  const isHeld = [expect.body, expect.length, expect.sha256, expect.json].some((each) => each !== undefined)
  const whole: Expect = {
    status,
    ...(!isHeld && body !== null && { body }),
    ...expect,
    headers: expect.headers ?? [['content-encoding', headers['content-encoding'] ?? null]],
  }
  return { ...request, expect: whole }
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}… (${text.length} characters)` : text
}
