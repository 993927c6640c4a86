import type { CallOrigin, CallSite } from '../call.ts'
import { LiveCall } from '../call.ts'
import type { BusbarError } from '../errors.ts'
import type { Method } from '../method.ts'
import { checkOf, type Check, type Checked } from '../schema.ts'
import { cloneValue } from '../value/clone.ts'
import { failOf, fromUncarriable, inputInvalid, OutputRefused, toCallError } from './failures.ts'
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
  /** `failed`: the fault is the service's. */
  left(failed: boolean): void
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
  readonly #isExact: ((value: unknown) => boolean) | undefined

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
    // What is copied anyway may as well be copied by the schema.
    if (this.#checkOutput !== undefined && !options.clone) this.#isExact = options.exactness?.(spec.output!)
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
    const around = this.#around
    const refusal = around.refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    around.began()
    if (call.endsEarly) return this.#race(input, call, checked)
    const answer = this.#enter(input, call, checked).then(this.#left, this.#failed)
    call.answeredBy(answer)
    return answer
  }

  stream(input: unknown, call: LiveCall, checked: boolean): LiveStream {
    return new LiveStream(call, this.#around, {
      open: () => this.#open(input, call, checked),
      pass: async (value) => this.#result(value, checked),
      fail: (thrown) => toCallError(thrown, this.site),
    })
  }

  #enter(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    const { enter } = this.#around.options
    return enter === undefined ? this.#invoke(input, call, checked) : enter(call, this.#invoke, input, checked)
  }

  /** Whichever comes first: its answer, or its end. One that has ended is in flight no more, though its method may go on. */
  #race(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    call.watch((reason) => {
      this.#around.left(reason.status >= 500)
      reject(reason)
    })
    if (call.hasEnded === undefined)
      this.#enter(input, call, checked).then(
        (value) => {
          if (call.settle()) resolve(this.#left(value))
        },
        (thrown: unknown) => {
          if (!call.settle()) return
          const error = toCallError(thrown, this.site)
          this.#around.left(error.status >= 500)
          reject(error)
        },
      )
    return promise
  }

  /**
   * Nothing stands between the caller and the method but one `then`, with functions that all calls share: an async
   * function around it would double the cost of an awaited call.
   */
  readonly #invoke = (input: unknown, call: LiveCall, checked: boolean): Promise<unknown> => {
    const isDirect = !this.#clones && (!checked || (this.#checkInput === undefined && this.#checkOutput === undefined))
    if (!isDirect) return this.#guarded(input, call, checked)
    try {
      const result = this.#run(this.#hasInput ? input : undefined, call)
      return result instanceof Promise ? result : Promise.resolve(result)
    } catch (thrown) {
      return Promise.reject(thrown)
    }
  }

  /** Waits only where there is something to wait for: most schemas answer at once, and an `await` costs a turn. */
  async #guarded(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    const checking = this.#input(input, checked)
    const value = checking instanceof Promise ? await checking : checking
    const result = await this.#run(this.#hasInput ? value : undefined, call)
    return this.#result(result, checked)
  }

  readonly #left = (result: unknown): unknown => {
    this.#around.left(false)
    return this.#hasOutput ? result : undefined
  }

  readonly #failed = (thrown: unknown): never => {
    const error = toCallError(thrown, this.site)
    this.#around.left(error.status >= 500)
    throw error
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
    if (this.#isExact?.(result) === true) return result
    const passed = this.#checkOutput(result)
    return passed instanceof Promise ? passed.then((later) => this.#passed(later)) : this.#passed(passed)
  }

  #passed(result: Checked): unknown {
    if (result.issues !== undefined) throw new OutputRefused(result.issues)
    return this.#clones ? cloneValue(result.value) : result.value
  }
}
