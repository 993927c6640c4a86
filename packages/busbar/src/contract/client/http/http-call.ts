import { isOver } from '../../call/live-call.ts'
import type { CallOptions } from '../../call/call-types.ts'
import { deadlines, type Expiring } from '../../call/deadlines.ts'
import { BusbarError, type ErrorCode } from '../../errors.ts'
import type { Method } from '../../method.ts'
import { fromProblem, fromStatus } from '../../http/problem.ts'

/** The called method. */
export interface Callee {
  readonly service: string
  readonly method: string
  readonly errors: Method['errors']
  /** Parses the text of a result. */
  readonly decode: (text: string) => unknown
}

/** A call over HTTP in flight, and what can end it early. */
export class HttpCall implements Expiring {
  readonly deadline: number
  previous: Expiring | undefined = undefined
  next: Expiring | undefined = undefined
  bucket = -1
  readonly #callee: Callee
  readonly #outer: AbortSignal | undefined
  readonly #over = new AbortController()
  /** Aborts the connection, which outlives a call whose deadline has passed. */
  readonly #connection: AbortController

  constructor(callee: Callee, { timeout, signal }: CallOptions) {
    this.#callee = callee
    this.#outer = signal
    this.deadline = timeout === undefined ? Infinity : performance.now() + (isOver(timeout) ? 0 : timeout)
    this.#connection = this.deadline === Infinity ? this.#over : new AbortController()
    if (signal?.aborted === true) this.abort()
    else if (isOver(timeout)) this.#end('DEADLINE_EXCEEDED', late)
    else {
      if (this.deadline !== Infinity) deadlines.add(this)
      signal?.addEventListener('abort', this)
    }
  }

  /** Aborts when the call has ended for its caller. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** The signal for `fetch`. */
  get connection(): AbortSignal {
    return this.#connection.signal
  }

  get timeLeft(): number {
    return Math.max(0, this.deadline - performance.now())
  }

  abort(): void {
    this.#end('CALL_ABORTED', 'was cancelled by its caller')
  }

  /**
   * The connection stays open for a grace period: the service has the same deadline and reports it
   * to its method. To the method, a closed connection would mean that the caller cancelled.
   */
  expire(): void {
    this.#end('DEADLINE_EXCEEDED', late, grace)
  }

  handleEvent(): void {
    this.abort()
  }

  /** Settles as `work` does, or rejects if the call ends before. */
  within<T>(work: Promise<T>): Promise<T> {
    if (this.#connection === this.#over) return work
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const end = (): void => reject(this.signal.reason as Error)
    if (this.signal.aborted) end()
    this.signal.addEventListener('abort', end)
    work.then(resolve, reject)
    return promise.finally(() => this.signal.removeEventListener('abort', end))
  }

  settle(): void {
    if (this.deadline !== Infinity) deadlines.remove(this)
    this.#outer?.removeEventListener('abort', this)
  }

  /**
   * Converts what `fetch` or a body threw to the caller's error: the reason of the early end, if
   * there was one.
   */
  failure(thrown: unknown): BusbarError<string> {
    if (this.signal.aborted) return this.signal.reason as BusbarError
    if (thrown instanceof Error && thrown.name === 'BusbarError') return thrown as BusbarError<string>
    const { service, method } = this.#callee
    const { cause = thrown } = thrown as { cause?: unknown }
    // With ECONNREFUSED nothing was sent, so a retry is safe.
    const refused = (cause as { code?: unknown } | undefined)?.code === 'ECONNREFUSED'
    const what = cause instanceof Error ? cause.message : String(cause)
    const message = `${service}.${method} could not be reached, or closed the connection: ${what}`
    return new BusbarError(refused ? 'SERVICE_UNAVAILABLE' : 'SERVICE_HANGUP', { message, service, cause: thrown })
  }

  #end(code: ErrorCode, what: string, later?: number): void {
    if (this.signal.aborted) return
    const { service, method } = this.#callee
    const reason = new BusbarError(code, { message: `${service}.${method} ${what}`, service })
    this.settle()
    this.#over.abort(reason)
    if (later === undefined) return this.#connection.abort(reason)
    const timer: unknown = setTimeout(() => this.#connection.abort(reason), later)
    // A timer must not keep a Node process alive; in browsers timers are numbers.
    if (typeof timer === 'object') (timer as { unref(): void }).unref()
  }
}

const late = 'did not answer in time'
/** Milliseconds in which the service's own timeout answer may still arrive. */
const grace = 1000

const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/

export async function readAnswer(response: Response, callee: Callee): Promise<unknown> {
  if (!response.ok) throw await readProblem(response, callee)
  if (response.status === 204 || response.headers.get('content-length') === '0') return undefined
  if (!jsonType.test(response.headers.get('content-type') ?? ''))
    throw await malformed(response, callee, 'it is not JSON')
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

/** Discards the body: unread, it would keep its connection busy. */
export async function malformed(response: Response, callee: Callee, what: string): Promise<BusbarError> {
  await response.body?.cancel()
  return answerMalformed(response, callee, what)
}

function answerMalformed({ url }: Response, { service, method }: Callee, what: string): BusbarError {
  const message = `the answer to ${service}.${method} from ${url} is not one of a typed service: ${what}`
  return new BusbarError('ANSWER_MALFORMED', { message, service })
}
