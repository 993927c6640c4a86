import { BusbarError } from '../errors.ts'
import { endTag, errorTag } from '../value/kinds.ts'
import { linesType } from './events.ts'
import { decode, malformed, readProblem, type Callee, type Exchange } from './exchange.ts'
import { fromProblem } from './problem.ts'
import { readLines } from './read-lines.ts'

interface Opened {
  readonly exchange: Exchange
  readonly response: Promise<Response>
}

type Step = IteratorResult<unknown, undefined>
const done = { done: true, value: undefined } as const

/**
 * The values of a stream that is answered in lines. It is asked for by the first `next()`, read no faster than its reader,
 * and given up with the connection when the reader leaves, also in the middle of a wait.
 */
export function answeredStream(
  callee: Callee,
  open: () => Opened,
): AsyncIterableIterator<unknown, undefined> & AsyncDisposable {
  let opened: Opened | undefined
  let values: AsyncGenerator<unknown, undefined> | undefined
  let left = false
  const leave = (): void => {
    if (left) return
    left = true
    opened?.exchange.abort()
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
        return await opened!.exchange.within(values.next())
      } catch (thrown) {
        // `left` changes while it waits.
        if (left as boolean) return done
        left = true
        opened?.exchange.settle()
        throw opened === undefined ? thrown : opened.exchange.failure(thrown)
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
  if (response.body === null || response.headers.get('content-type') !== linesType)
    throw await malformed(response, callee, `it is no ${linesType}`)
  for await (const line of readLines(response.body)) {
    if (line === endLine) {
      opened.exchange.settle()
      return undefined
    }
    const error = line.startsWith(errorStart) ? errorOf(line, callee) : undefined
    if (error !== undefined) throw error
    yield decode(line, response, callee)
  }
  const message = `${callee.service}.${callee.method} hung up in the middle of its values`
  throw new BusbarError('SERVICE_HANGUP', { message, service: callee.service })
}

const endLine = JSON.stringify({ [endTag]: true })
const errorStart = `{"${errorTag}":`

/** Undefined for a value that has other fields beside such a key: alone it would be in `$plain`. */
function errorOf(line: string, { service, errors }: Callee): BusbarError<string> | undefined {
  const { [errorTag]: problem, ...more } = JSON.parse(line) as { [errorTag]: unknown }
  if (Object.keys(more).length > 0) return undefined
  const message = `the stream of ${service} ended with an error that its contract does not have`
  return fromProblem(problem, service, errors) ?? new BusbarError('ANSWER_MALFORMED', { message, service })
}
