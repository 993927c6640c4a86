import type { CallEdge } from '../../contract/call/call-edge.ts'
import type { LiveCall } from '../../contract/call/live-call.ts'
import type { BusbarError } from '../../contract/errors.ts'
import type { HostedMethod } from '../../contract/host/hosted-method.ts'
import type { CallTimer } from '../../contract/host/hosting-service.ts'
import type { CallSink } from '../../contract/host/sink-answer.ts'

/** A call without a promise and its tick between the method and `sink`. */
export function answerTo(
  sink: CallSink,
  hosted: HostedMethod,
  input: unknown,
  call: LiveCall,
  checked: boolean,
  edge: CallEdge | undefined,
): void {
  if (call.canEndEarly) return hosted.callWithCallback(sink, input, call, checked, edge)
  const begun = hosted.begin(input, call, checked, edge)
  if ('code' in begun) return sink.failed(begun)
  const { promise, timer, finish, failed } = begun
  const direct = new DirectAnswer(sink, call, timer)
  promise.then(
    (value) => direct.pass(finish, value),
    (thrown: unknown) => direct.pass(failed, thrown),
  )
}

/** Passes the outcome of a call that only its answer can end to its sink. */
class DirectAnswer {
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
