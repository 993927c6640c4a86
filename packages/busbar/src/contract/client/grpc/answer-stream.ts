import type { HttpCall } from '../http/http-call.ts'
import type { AnswerReader } from './answer-reader.ts'

interface Opened {
  readonly call: HttpCall
  readonly reader: Promise<AnswerReader>
}

type Step = IteratorResult<unknown, undefined>
const done = { done: true, value: undefined } as const

/**
 * The values of a stream. The request is sent at the first `next()`. Reading applies backpressure.
 * Leaving the stream cancels the call, even while a value is pending.
 */
export function answerStream(open: () => Opened): AsyncIterableIterator<unknown, undefined> {
  let opened: Opened | undefined
  let isOver = false
  const leave = (): void => {
    if (isOver) return
    isOver = true
    opened?.call.abort()
  }
  const end = (): void => {
    isOver = true
    opened?.call.settle()
  }
  const stream = {
    [Symbol.asyncIterator]: () => stream,
    async next(): Promise<Step> {
      if (isOver) return done
      try {
        const { call, reader } = (opened ??= open())
        const step = await call.within(reader.then((values) => values.next()))
        if (step.done === true) end()
        return step
      } catch (thrown) {
        if (isOver as boolean) return done
        end()
        throw opened === undefined ? thrown : opened.call.failure(thrown)
      }
    },
    async return(): Promise<Step> {
      leave()
      return done
    },
    async [Symbol.asyncDispose](): Promise<void> {
      leave()
    },
  }
  return stream as AsyncIterableIterator<unknown, undefined>
}
