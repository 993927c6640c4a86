import { BusbarError } from '../../errors.ts'
import { endTag, errorTag } from '../../value/serialisable.ts'
import { ndjsonType } from '../../http/stream-format.ts'
import { decode, malformed, readProblem, type Callee, type HttpCall } from './http-call.ts'
import { fromProblem } from '../../http/problem.ts'

interface Opened {
  readonly call: HttpCall
  readonly response: Promise<Response>
}

type Step = IteratorResult<unknown, undefined>
const done = { done: true, value: undefined } as const

/**
 * The values of a stream that arrives as lines of JSON. The request is sent at the first `next()`.
 * Reading applies backpressure. Leaving the stream aborts the connection, even while a value is
 * pending.
 */
export function httpStream(
  callee: Callee,
  open: () => Opened,
): AsyncIterableIterator<unknown, undefined> & AsyncDisposable {
  let opened: Opened | undefined
  let values: AsyncGenerator<unknown, undefined> | undefined
  let left = false
  const leave = (): void => {
    if (left) return
    left = true
    opened?.call.abort()
    void values?.return(undefined).catch(() => {})
  }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next(): Promise<Step> {
      if (left) return done
      try {
        values ??= valuesOf(callee, (opened ??= open()))
        return await opened!.call.within(values.next())
      } catch (thrown) {
        // `left` may have changed during the await.
        if (left as boolean) return done
        left = true
        opened?.call.settle()
        throw opened === undefined ? thrown : opened.call.failure(thrown)
      }
    },
    async return(): Promise<Step> {
      leave()
      return done
    },
    async throw(error: unknown): Promise<never> {
      leave()
      throw error
    },
    async [Symbol.asyncDispose](): Promise<void> {
      leave()
    },
  }
}

async function* valuesOf(callee: Callee, opened: Opened): AsyncGenerator<unknown, undefined> {
  const response = await opened.response
  if (!response.ok) throw await readProblem(response, callee)
  if (response.body === null || response.headers.get('content-type') !== ndjsonType)
    throw await malformed(response, callee, `its content type is not ${ndjsonType}`)
  for await (const line of readLines(response.body)) {
    if (line === endLine) {
      opened.call.settle()
      return undefined
    }
    const error = line.startsWith(errorStart) ? errorOf(line, callee) : undefined
    if (error !== undefined) throw error
    yield decode(line, response, callee)
  }
  const message = `${callee.service}.${callee.method} closed the connection before the stream ended`
  throw new BusbarError('SERVICE_HANGUP', { message, service: callee.service })
}

const endLine = JSON.stringify({ [endTag]: true })
const errorStart = `{"${errorTag}":`

/**
 * Undefined for a value with more fields than this key. An object with only this key would have
 * been escaped by `$plain`.
 */
function errorOf(line: string, { service, errors }: Callee): BusbarError<string> | undefined {
  const { [errorTag]: problem, ...more } = JSON.parse(line) as { [errorTag]: unknown }
  if (Object.keys(more).length > 0) return undefined
  const message = `the stream of ${service} ended with an error that its contract does not declare`
  return fromProblem(problem, service, errors) ?? new BusbarError('ANSWER_MALFORMED', { message, service })
}

/**
 * Splits a body into lines as they arrive. Leaving the loop cancels the body and so the request.
 */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const parts = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = parts.pop()!
      for (const line of parts) if (line !== '') yield line
    }
  } finally {
    // A body that has ended or failed cannot be cancelled; nothing is left to do.
    await reader.cancel().catch(() => {})
  }
}
