import type { CallEdge } from '../call/call-edge.ts'
import type { CallOrigin, CallSite } from '../call/live-call.ts'
import { LiveCall } from '../call/live-call.ts'
import type { BusbarError } from '../errors.ts'
import type { Method } from '../method.ts'
import { checkOf, type Check, type Checked } from '../schema.ts'
import { cloneValue } from '../value/clone.ts'
import { pendingDataCheck, createFail, toInputInvalid, inputInvalid, OutputInvalid, toCallError } from './failures.ts'
import { CountedOutcomes, type Outcomes } from './counted-outcomes.ts'
import { compose, type Run } from './interceptors.ts'
import { HostedStream } from './hosted-stream.ts'
import { InputStream, iteratorOf } from './input-stream.ts'
import type { CallTimer, HostingService } from './hosting-service.ts'
import { type CallSink, SinkAnswer } from './sink-answer.ts'

/** `finish` or `failed` makes the call's answer of what the method did, or throws its error. */
export interface BegunCall extends Outcomes {
  readonly promise: Promise<unknown>
  readonly timer: CallTimer | undefined
}

/**
 * One method of a hosted service. Everything that does not depend on the call is decided at
 * construction.
 */
export class HostedMethod {
  readonly name: string
  readonly spec: Method
  readonly site: CallSite
  readonly #service: HostingService
  readonly #run: Run
  readonly #clones: boolean
  readonly #hasInput: boolean
  readonly #hasOutput: boolean
  readonly #checkInput: Check | undefined
  readonly #checkOutput: Check | undefined
  readonly #unchecked: CountedOutcomes
  readonly #checked: CountedOutcomes

  constructor(name: string, spec: Method, run: Run, host: HostingService) {
    const { service, options, cancellable } = host
    this.name = name
    this.spec = spec
    this.site = {
      service,
      method: name,
      log: options.log,
      fail: createFail(() => this.site, spec.errors),
      cancellable,
      enter: options.enter,
    }
    this.#service = host
    this.#run = compose(host.interceptors, { service, method: name }, run)
    this.#clones = options.clone
    this.#hasInput = spec.input !== undefined
    this.#hasOutput = spec.output !== undefined
    this.#checkInput = checkOf(spec.input)
    this.#checkOutput = checkOf(spec.output)
    this.#unchecked = new CountedOutcomes({ finish: this.#finish, failed: this.#failed })
    this.#checked = new CountedOutcomes({ finish: this.#finishChecked, failed: this.#failed })
  }

  /**
   * `checked`: validate by the schemas; trusted callers may skip that. `edge`: counts the call for
   * its caller. Never throws; it rejects.
   */
  call(input: unknown, origin: CallOrigin, checked: boolean, edge?: CallEdge): Promise<unknown> {
    return this.answer(input, this.open(origin), checked, edge)
  }

  open(origin: CallOrigin): LiveCall {
    const { timeout } = this.spec
    return new LiveCall(
      this.site,
      timeout === undefined || origin.timeout !== undefined ? origin : { ...origin, timeout },
    )
  }

  answer(input: unknown, call: LiveCall, checked: boolean, edge?: CallEdge): Promise<unknown> {
    if (call.canEndEarly)
      return new Promise((answered, failed) => this.callWithCallback({ answered, failed }, input, call, checked, edge))
    const begun = this.begin(input, call, checked, edge)
    if ('code' in begun) return Promise.reject(begun)
    const answer = begun.promise.then(begun.finish, begun.failed)
    if (begun.timer !== undefined) answer.then(begun.timer.end, begun.timer.end)
    call.answeredBy(answer)
    return answer
  }

  /** Begins a call that only its answer can end. Returns an error if the service refuses it. */
  begin(input: unknown, call: LiveCall, checked: boolean, edge?: CallEdge): BegunCall | BusbarError<string> {
    const refusal = this.#service.refusal(edge)
    if (refusal !== undefined) return refusal
    const timer = this.#service.countStart()
    const { finish, failed } = (checked ? this.#checked : this.#unchecked).begin(edge)
    return { promise: this.#promise(input, call, checked), timer, finish, failed }
  }

  /**
   * Reports the call's answer or its early end, whichever comes first, to `sink`, possibly before
   * this returns. A call that has ended is no longer in flight, though its method may still run. It
   * waits only for promises that the method itself returns: the promises in between were a tenth of
   * the cost of a small request.
   */
  callWithCallback(sink: CallSink, input: unknown, call: LiveCall, checked: boolean, edge?: CallEdge): void {
    const refusal = this.#service.refusal(edge)
    if (refusal !== undefined) return sink.failed(refusal)
    const answer = new SinkAnswer({ site: this.site, service: this.#service, sink, call, edge })
    call.listen((reason) => answer.ended(reason))
    if (call.endReason !== undefined) return
    let raw: unknown
    try {
      raw = this.#enter(input, call, checked)
    } catch (thrown) {
      return answer.failed(thrown)
    }
    answer.when(raw, (value) => this.#passResult(value, checked, answer))
  }

  #passResult(raw: unknown, checked: boolean, answer: SinkAnswer): void {
    let value: unknown
    try {
      value = this.#result(raw, checked)
    } catch (thrown) {
      return answer.failed(thrown)
    }
    answer.when(value, (known) => answer.passed(known))
  }

  stream(input: unknown, call: LiveCall, checked: boolean, edge?: CallEdge): HostedStream {
    const source = {
      open: () => this.#open(input, call, checked),
      pass: async (value: unknown) => this.#result(value, checked),
      fail: (thrown: unknown) => this.#toError(thrown),
    }
    return new HostedStream(call, this.#service, source, edge)
  }

  /** The method's result, or a promise of it. Throws what the method throws. */
  #enter(input: unknown, call: LiveCall, checked: boolean): unknown {
    const { enter } = this.#service.options
    return enter === undefined ? this.#invoke(input, call, checked) : enter(call, this.#invoke, input, checked)
  }

  #promise(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    try {
      return Promise.resolve(this.#enter(input, call, checked))
    } catch (thrown) {
      return Promise.reject(thrown)
    }
  }

  /**
   * Awaits nothing that is synchronous: most schemas are, and an `await` costs a microtask turn.
   */
  readonly #invoke = (input: unknown, call: LiveCall, checked: boolean): unknown => {
    if (!this.#hasInput) return this.#run(undefined, call)
    if (this.spec.takesMany === true) return this.#run(this.#inputs(input, call, checked), call)
    if (!this.#clones && !(checked && this.#checkInput !== undefined)) return this.#run(input, call)
    const value = this.#input(input, checked)
    return value instanceof Promise ? value.then((later) => this.#run(later, call)) : this.#run(value, call)
  }

  /** Shared by all calls: a closure per call would double the cost of an awaited call. */
  readonly #finish = (result: unknown): unknown =>
    this.#clones ? this.#finishResult(result, false) : this.#passedOn(this.#hasOutput ? result : undefined)

  readonly #finishChecked = (result: unknown): unknown =>
    this.#checkOutput === undefined ? this.#finish(result) : this.#finishResult(result, true)

  #finishResult(raw: unknown, checked: boolean): unknown {
    try {
      const result = this.#result(raw, checked)
      if (result instanceof Promise) return result.then(this.#passedOn, this.#failed)
      return this.#passedOn(result)
    } catch (thrown) {
      return this.#failed(thrown)
    }
  }

  readonly #passedOn = (result: unknown): unknown => {
    this.#service.countEnd(false)
    return result
  }

  readonly #failed = (thrown: unknown): unknown => {
    const checking = pendingDataCheck(thrown, this.site)
    if (checking !== undefined) return checking.then(this.#failed, this.#failed)
    const error = toCallError(thrown, this.site)
    this.#service.countEnd(error.status >= 500)
    throw error
  }

  async #toError(thrown: unknown): Promise<BusbarError<string>> {
    try {
      return toCallError((await pendingDataCheck(thrown, this.site)) ?? thrown, this.site)
    } catch (refused) {
      return toCallError(refused, this.site)
    }
  }

  async #open(input: unknown, call: LiveCall, checked: boolean): Promise<AsyncIterator<unknown>> {
    const value = this.spec.takesMany === true ? this.#inputs(input, call, checked) : await this.#input(input, checked)
    const source = await this.#run(this.#hasInput ? value : undefined, call)
    // A link carries the one result of many inputs as a stream of one value.
    if (this.spec.kind === 'fn') return [source][Symbol.iterator]() as unknown as AsyncIterator<unknown>
    const iterate = (source as Partial<AsyncIterable<unknown>> | undefined)?.[Symbol.asyncIterator]
    if (iterate === undefined) throw new TypeError('a stream method did not return an async iterable')
    return Reflect.apply<typeof source, never[], AsyncIterator<unknown>>(iterate, source, [])
  }

  #inputs(values: unknown, call: LiveCall, checked: boolean): InputStream {
    const iterator = iteratorOf(values)
    if (iterator === undefined) throw inputInvalid(this.site, [{ path: [], message: 'it is not iterable' }])
    return new InputStream(call, iterator, (value) => this.#input(value, checked))
  }

  /** The value, or a promise of it if the schema is asynchronous. */
  #input(input: unknown, checked: boolean): unknown {
    const value = this.#clones ? this.#cloneInput(input) : input
    if (!checked || this.#checkInput === undefined) return value
    const result = this.#checkInput(value)
    return result instanceof Promise ? result.then((later) => this.#accepted(later)) : this.#accepted(result)
  }

  #accepted(result: Checked): unknown {
    if (result.issues !== undefined) throw inputInvalid(this.site, result.issues)
    return result.value
  }

  #cloneInput(input: unknown): unknown {
    try {
      return cloneValue(input)
    } catch (error) {
      throw toInputInvalid(this.site, error)
    }
  }

  #result(result: unknown, checked: boolean): unknown {
    if (!this.#hasOutput) return undefined
    if (!checked || this.#checkOutput === undefined) return this.#clones ? cloneValue(result) : result
    const passed = this.#checkOutput(result)
    return passed instanceof Promise ? passed.then((later) => this.#passed(later)) : this.#passed(passed)
  }

  #passed(result: Checked): unknown {
    if (result.issues !== undefined) throw new OutputInvalid(result.issues)
    return this.#clones ? cloneValue(result.value) : result.value
  }
}
