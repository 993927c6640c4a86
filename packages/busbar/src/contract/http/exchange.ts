import type { CallOptions } from '../calls.ts'
import { deadlines, type Expiring } from '../deadlines.ts'
import { BusbarError, type ErrorCode } from '../errors.ts'
import type { Method } from '../method.ts'
import { fromProblem, fromStatus } from './problem.ts'

/** Whose call it is, for messages. */
export interface Callee {
  readonly service: string
  readonly method: string
  readonly errors: Method['errors']
  /** Reads the text of a result. */
  readonly decode: (text: string) => unknown
}

/** A call over HTTP in flight: what ends it before its answer. */
export class Exchange implements Expiring {
  readonly deadline: number
  previous: Expiring | undefined = undefined
  next: Expiring | undefined = undefined
  slot = -1
  readonly #callee: Callee
  readonly #outer: AbortSignal | undefined
  readonly #controller = new AbortController()

  constructor(callee: Callee, { timeout, signal }: CallOptions) {
    this.#callee = callee
    this.#outer = signal
    this.deadline = timeout === undefined || !(timeout >= 0) ? Infinity : performance.now() + timeout
    if (this.deadline !== Infinity) deadlines.add(this)
    if (signal?.aborted === true) this.abort()
    else signal?.addEventListener('abort', this)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get timeLeft(): number {
    return Math.max(0, this.deadline - performance.now())
  }

  abort(): void {
    this.#end('CALL_ABORTED', 'was given up by its caller')
  }

  expire(): void {
    this.#end('DEADLINE_EXCEEDED', 'had not answered in time')
  }

  handleEvent(): void {
    this.abort()
  }

  settle(): void {
    if (this.deadline !== Infinity) deadlines.remove(this)
    this.#outer?.removeEventListener('abort', this)
  }

  /** What `fetch` or a body threw, as the caller is to see it: why it was ended, where it was. */
  failure(thrown: unknown): BusbarError<string> {
    if (this.signal.aborted) return this.signal.reason as BusbarError
    if (thrown instanceof Error && thrown.name === 'BusbarError') return thrown as BusbarError<string>
    const { service, method } = this.#callee
    const { cause = thrown } = thrown as { cause?: unknown }
    // Nothing was sent where nobody listens: asking again can do no harm.
    const refused = (cause as { code?: unknown } | undefined)?.code === 'ECONNREFUSED'
    const what = cause instanceof Error ? cause.message : String(cause)
    const message = `${service}.${method} could not be reached, or hung up: ${what}`
    return new BusbarError(refused ? 'SERVICE_UNAVAILABLE' : 'SERVICE_HANGUP', { message, service, cause: thrown })
  }

  #end(code: ErrorCode, what: string): void {
    const { service, method } = this.#callee
    this.settle()
    this.#controller.abort(new BusbarError(code, { message: `${service}.${method} ${what}`, service }))
  }
}

const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/

export async function readAnswer(response: Response, callee: Callee): Promise<unknown> {
  if (!response.ok) throw await readProblem(response, callee)
  if (response.status === 204 || response.headers.get('content-length') === '0') return undefined
  if (!jsonType.test(response.headers.get('content-type') ?? ''))
    throw await malformed(response, callee, 'it is no JSON')
  return decode(await response.text(), response, callee)
}

export async function readProblem(response: Response, { service, errors }: Callee): Promise<BusbarError<string>> {
  const isJson = jsonType.test(response.headers.get('content-type') ?? '')
  const body = isJson ? await response.json().catch(() => undefined) : await response.body?.cancel()
  return fromProblem(body, service, errors) ?? fromStatus(response.status, service, response.url)
}

export function decode(text: string, response: Response, callee: Callee): unknown {
  try {
    return callee.decode(text)
  } catch (error) {
    throw answerMalformed(response, callee, (error as Error).message)
  }
}

/** Of an answer whose body is not wanted: unread, it would hold its connection. */
export async function malformed(response: Response, callee: Callee, what: string): Promise<BusbarError> {
  await response.body?.cancel()
  return answerMalformed(response, callee, what)
}

function answerMalformed({ url }: Response, { service, method }: Callee, what: string): BusbarError {
  const message = `the answer to ${service}.${method} from ${url} is none of a typed service: ${what}`
  return new BusbarError('ANSWER_MALFORMED', { message, service })
}
