import type { LiveCall } from '../call/live-call.ts'
import type { BusbarError } from '../errors.ts'
import type { CallTimer } from './hosting-service.ts'
import type { CallSink } from './sink-answer.ts'

/** Passes the outcome of a call that only its answer can end to its sink. */
export class DirectAnswer {
  readonly #sink: CallSink
  readonly #call: LiveCall
  readonly #timer: CallTimer | undefined

  constructor(sink: CallSink, call: LiveCall, timer: CallTimer | undefined) {
    this.#sink = sink
    this.#call = call
    this.#timer = timer
  }

  /** `step`: makes the call's answer, or a promise of it, of what its method did, or throws. */
  pass(step: (outcome: unknown) => unknown, outcome: unknown): void {
    let answer: unknown
    try {
      answer = step(outcome)
    } catch (error) {
      return this.#failed(error)
    }
    if (!(answer instanceof Promise)) return this.#answered(answer)
    answer.then(
      (later) => this.#answered(later),
      (error: unknown) => this.#failed(error),
    )
  }

  #answered(answer: unknown): void {
    this.#end()
    this.#sink.answered(answer)
  }

  #failed(error: unknown): void {
    this.#end()
    this.#sink.failed(error as BusbarError<string>)
  }

  /** The call's signal no longer aborts. */
  #end(): void {
    this.#timer?.end()
    this.#call.settle()
  }
}
