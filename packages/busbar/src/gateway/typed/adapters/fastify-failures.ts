import { BusbarError } from '../../../contract/errors.ts'
import { failure } from '../../../contract/http/answering.ts'
import { toProblem } from '../../../contract/http/problem.ts'
import { readerOf } from '../../../contract/http/readers.ts'
import type { FastifyReply, FastifyRequest } from './fastify-types.ts'

/**
 * The failures of calls, which clients read as problems: the error handler of the plug-in's own context answers these, after
 * the hooks `onError`. Everything else goes on to the app's error handler.
 */
export class FailedCalls {
  readonly #errors = new WeakSet<Error>()

  /** What `make` throws is a failure of a call. */
  within<T>(make: () => T): T {
    try {
      return make()
    } catch (thrown) {
      throw this.of(thrown)
    }
  }

  of(thrown: unknown): Error {
    // Codes that a contract declares are in no table.
    const isOurs = thrown instanceof Error && thrown.name === 'BusbarError'
    const error = isOurs ? thrown : BusbarError.from(thrown)
    this.#errors.add(error)
    return error
  }

  readonly answer = (error: Error, { headers: asked }: FastifyRequest, reply: FastifyReply): void => {
    if (!this.#errors.has(error)) throw error
    const problem = toProblem(error as BusbarError<string>, readerOf(asked.accept))
    const { status, headers } = failure(error as BusbarError<string>)
    reply.code(status).headers(headers).serializer(JSON.stringify).send(problem)
  }
}
