import type { CallOrigin, CallSite } from '../call.ts'
import { LiveCall } from '../call.ts'
import type { BusbarError } from '../errors.ts'
import type { Method } from '../method.ts'
import { checkOf, type Check, type Checked } from '../schema.ts'
import { cloneValue } from '../value/clone.ts'
import { checkingOf, failOf, fromUncarriable, inputInvalid, OutputRefused, toCallError } from './failures.ts'
import { compose, type Interceptor, type Run } from './interceptors.ts'
import { LiveStream } from './live-stream.ts'
import type { HostOptions } from './host.ts'

/** What a method needs of the service that it belongs to. */
export interface Around {
  readonly service: string
  readonly options: HostOptions
  readonly interceptors: readonly Interceptor[]
  readonly endable: Set<LiveCall>
  /** Why it takes no call now. */
  refusal(): BusbarError | undefined
  began(): void
  /** `failed`: there was no answer, or an error whose fault is the service's. */
  left(failed: boolean): void
}

/** Who is told what becomes of a call: one of both, once. */
export interface Asker {
  answered(result: unknown): void
  failed(error: BusbarError<string>): void
}

/** One method of a service in this thread, with everything decided that does not depend on the call. */
export class HostedMethod {
  readonly name: string
  readonly spec: Method
  readonly site: CallSite
  readonly #around: Around
  readonly #run: Run
  readonly #clones: boolean
  readonly #hasInput: boolean
  readonly #hasOutput: boolean
  readonly #checkInput: Check | undefined
  readonly #checkOutput: Check | undefined

  constructor(name: string, spec: Method, run: Run, around: Around) {
    const { service, options, endable } = around
    this.name = name
    this.spec = spec
    this.site = {
      service,
      method: name,
      log: options.log,
      fail: failOf(() => this.site, spec.errors),
      endable,
      enter: options.enter,
    }
    this.#around = around
    this.#run = compose(around.interceptors, { service, method: name }, run)
    this.#clones = options.clone
    this.#hasInput = spec.input !== undefined
    this.#hasOutput = spec.output !== undefined
    this.#checkInput = checkOf(spec.input)
    this.#checkOutput = checkOf(spec.output)
  }

  /** `checked`: whether schemas are asked; callers who may be trusted can go without. Throws nothing: it rejects. */
  call(input: unknown, origin: CallOrigin, checked: boolean): Promise<unknown> {
    return this.answer(input, this.open(origin), checked)
  }

  open(origin: CallOrigin): LiveCall {
    const { timeout } = this.spec
    return new LiveCall(
      this.site,
      timeout === undefined || origin.timeout !== undefined ? origin : { ...origin, timeout },
    )
  }

  answer(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    if (call.endsEarly) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      this.tell({ answered: resolve, failed: reject }, input, call, checked)
      return promise
    }
    const refusal = this.#around.refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    this.#around.began()
    const left = checked ? this.#leftChecked : this.#left
    const answer = this.#promise(input, call, checked).then(left, this.#failed)
    call.answeredBy(answer)
    return answer
  }

  /**
   * Whichever comes first, the call's answer or its end, is told to `asker`; also before this returns. A call that has
   * ended is in flight no more, though its method may go on. Promises are only waited for where the method makes them:
   * those between it and its caller were a tenth of what a small request costs.
   */
  tell(asker: Asker, input: unknown, call: LiveCall, checked: boolean): void {
    const around = this.#around
    const refusal = around.refusal()
    if (refusal !== undefined) return asker.failed(refusal)
    around.began()
    const answer = new ToldAnswer(this.site, around, asker, call)
    call.expect((reason) => answer.ended(reason))
    if (call.hasEnded !== undefined) return
    let raw: unknown
    try {
      raw = this.#enter(input, call, checked)
    } catch (thrown) {
      return answer.failed(thrown)
    }
    answer.when(raw, (value) => this.#tellResult(value, checked, answer))
  }

  #tellResult(raw: unknown, checked: boolean, answer: ToldAnswer): void {
    let value: unknown
    try {
      value = this.#result(raw, checked)
    } catch (thrown) {
      return answer.failed(thrown)
    }
    answer.when(value, (known) => answer.passed(known))
  }

  stream(input: unknown, call: LiveCall, checked: boolean): LiveStream {
    return new LiveStream(call, this.#around, {
      open: () => this.#open(input, call, checked),
      pass: async (value) => this.#result(value, checked),
      fail: (thrown) => this.#toError(thrown),
    })
  }

  /** The method's result, or a promise of it. May throw what the method throws. */
  #enter(input: unknown, call: LiveCall, checked: boolean): unknown {
    const { enter } = this.#around.options
    return enter === undefined ? this.#invoke(input, call, checked) : enter(call, this.#invoke, input, checked)
  }

  #promise(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    try {
      const result = this.#enter(input, call, checked)
      return result instanceof Promise ? result : Promise.resolve(result)
    } catch (thrown) {
      return Promise.reject(thrown)
    }
  }

  /** Waits only where there is something to wait for: most schemas answer at once, and an `await` costs a turn. */
  readonly #invoke = (input: unknown, call: LiveCall, checked: boolean): unknown => {
    if (!this.#hasInput) return this.#run(undefined, call)
    if (!this.#clones && !(checked && this.#checkInput !== undefined)) return this.#run(input, call)
    const value = this.#input(input, checked)
    return value instanceof Promise ? value.then((later) => this.#run(later, call)) : this.#run(value, call)
  }

  /** Functions that all calls share: one for each call would double the cost of an awaited call. */
  readonly #left = (result: unknown): unknown =>
    this.#clones ? this.#leave(result, false) : this.#passedOn(this.#hasOutput ? result : undefined)

  readonly #leftChecked = (result: unknown): unknown =>
    this.#checkOutput === undefined ? this.#left(result) : this.#leave(result, true)

  #leave(raw: unknown, checked: boolean): unknown {
    try {
      const result = this.#result(raw, checked)
      if (result instanceof Promise) return result.then(this.#passedOn, this.#failed)
      return this.#passedOn(result)
    } catch (thrown) {
      return this.#failed(thrown)
    }
  }

  readonly #passedOn = (result: unknown): unknown => {
    this.#around.left(false)
    return result
  }

  readonly #failed = (thrown: unknown): unknown => {
    const checking = checkingOf(thrown, this.site)
    if (checking !== undefined) return checking.then(this.#failed, this.#failed)
    const error = toCallError(thrown, this.site)
    this.#around.left(error.status >= 500)
    throw error
  }

  async #toError(thrown: unknown): Promise<BusbarError<string>> {
    try {
      return toCallError((await checkingOf(thrown, this.site)) ?? thrown, this.site)
    } catch (refused) {
      return toCallError(refused, this.site)
    }
  }

  async #open(input: unknown, call: LiveCall, checked: boolean): Promise<AsyncIterator<unknown>> {
    const value = await this.#input(input, checked)
    const source = await this.#run(this.#hasInput ? value : undefined, call)
    const iterate = (source as Partial<AsyncIterable<unknown>> | undefined)?.[Symbol.asyncIterator]
    if (iterate === undefined) throw new TypeError('a stream method returned no async iterable')
    return Reflect.apply<typeof source, never[], AsyncIterator<unknown>>(iterate, source, [])
  }

  /** The value, or a promise of it where the schema is asynchronous. */
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
      throw fromUncarriable(this.site, error)
    }
  }

  #result(result: unknown, checked: boolean): unknown {
    if (!this.#hasOutput) return undefined
    if (!checked || this.#checkOutput === undefined) return this.#clones ? cloneValue(result) : result
    const passed = this.#checkOutput(result)
    return passed instanceof Promise ? passed.then((later) => this.#passed(later)) : this.#passed(passed)
  }

  #passed(result: Checked): unknown {
    if (result.issues !== undefined) throw new OutputRefused(result.issues)
    return this.#clones ? cloneValue(result.value) : result.value
  }
}

/** What becomes of one call that is told: once. */
class ToldAnswer {
  readonly #call: LiveCall
  readonly #site: CallSite
  readonly #around: Around
  readonly #asker: Asker

  constructor(site: CallSite, around: Around, asker: Asker, call: LiveCall) {
    this.#call = call
    this.#site = site
    this.#around = around
    this.#asker = asker
  }

  /** Goes on with a value, or with what its promise becomes. */
  when(value: unknown, goOn: (known: unknown) => void): void {
    if (!isThenable(value)) return goOn(value)
    this.#call.wait()
    toPromise(value).then(goOn, (thrown) => this.failed(thrown))
  }

  passed(value: unknown): void {
    if (!this.#call.settle()) return
    this.#around.left(false)
    this.#asker.answered(value)
  }

  failed(thrown: unknown): void {
    const checking = checkingOf(thrown, this.#site)
    if (checking !== undefined) {
      const failed = (known: unknown): void => this.failed(known)
      this.#call.wait()
      return void checking.then(failed, failed)
    }
    if (!this.#call.settle()) return
    const error = toCallError(thrown, this.#site)
    this.#around.left(error.status >= 500)
    this.#asker.failed(error)
  }

  ended(reason: BusbarError): void {
    this.#around.left(true)
    this.#asker.failed(reason)
  }
}

/** A promise of this realm, or whatever else can be awaited. */
function toPromise(value: PromiseLike<unknown>): Promise<unknown> {
  return value instanceof Promise ? value : Promise.resolve(value)
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as Partial<PromiseLike<unknown>>).then === 'function'
  )
}
