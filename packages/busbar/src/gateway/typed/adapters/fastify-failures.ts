import { BusbarError } from '../../../contract/errors.ts'
import { failure } from '../../../contract/http/responder.ts'
import { toProblem } from '../../../contract/http/problem.ts'
import { dialectFor } from '../../../contract/http/accept.ts'
import type { FastifyReply, FastifyRequest } from './fastify-types.ts'

/**
 * Records the failures of calls. The error handler of the plug-in's context sends these as problem
 * details, after the `onError` hooks. Other errors go to the app's error handler.
 */
export class FailedCalls {
  readonly #errors = new WeakSet<Error>()

  /** Records what `make` throws as the failure of a call. */
  within<T>(make: () => T): T {
    try {
      return make()
    } catch (thrown) {
      throw this.of(thrown)
    }
  }

  of(thrown: unknown): Error {
    // The error table does not contain the codes that contracts declare.
    const isOurs = thrown instanceof Error && thrown.name === 'BusbarError'
    const error = isOurs ? thrown : BusbarError.from(thrown)
    this.#errors.add(error)
    return error
  }

  readonly answer = (error: Error, { headers: asked }: FastifyRequest, reply: FastifyReply): void => {
    if (!this.#errors.has(error)) throw error
    const problem = toProblem(error as BusbarError<string>, dialectFor(asked.accept))
    const { status, headers } = failure(error as BusbarError<string>)
    reply.code(status).headers(headers).serializer(JSON.stringify).send(problem)
  }
}
