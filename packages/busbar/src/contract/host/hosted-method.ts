import type { CallOrigin, CallSite } from '../call.ts'
import { LiveCall } from '../call.ts'
import type { BusbarError } from '../errors.ts'
import type { Method } from '../method.ts'
import { checkOf, type Check } from '../schema.ts'
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
  left(): void
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
    this.site = { service, method: name, log: options.log, fail: failOf(() => this.site, spec.errors), endable }
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
    return call.endsEarly ? this.#race(input, call, checked) : this.#enter(input, call, checked)
  }

  stream(input: unknown, call: LiveCall, checked: boolean): LiveStream {
    return new LiveStream(call, this.#around, {
      open: () => this.#open(input, call, checked),
      pass: (value) => this.#result(value, checked),
      fail: (thrown) => toCallError(thrown, this.site),
    })
  }

  #enter(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    const { enter } = this.#around.options
    return enter === undefined ? this.#answer(input, call, checked) : enter(call, this.#entered, input, call, checked)
  }

  readonly #entered = (input: unknown, call: LiveCall, checked: boolean): Promise<unknown> =>
    this.#answer(input, call, checked)

  /** Whether schemas or copies stand between the caller and the function. */
  #isDirect(checked: boolean): boolean {
    return !this.#clones && (!checked || (this.#checkInput === undefined && this.#checkOutput === undefined))
  }

  /** Whichever comes first: its answer, or its end. */
  #race(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let over = false
      call.watch((reason) => {
        over = true
        reject(reason)
      })
      if (over) return
      void this.#enter(input, call, checked).then(
        (value) => {
          call.settle()
          resolve(value)
        },
        (error: unknown) => {
          call.settle()
          reject(error)
        },
      )
    })
  }

  #answer(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    const around = this.#around
    const refusal = around.refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    around.began()
    return this.#isDirect(checked)
      ? this.#direct(input, call)
      : this.#guarded(input, call, checked).then(this.#left, this.#failed)
  }

  /**
   * Nothing between the caller and the method but one `then`, with functions that all calls share: an async function
   * around it would double the cost of an awaited call.
   */
  #direct(input: unknown, call: LiveCall): Promise<unknown> {
    let result: unknown
    try {
      result = this.#run(this.#hasInput ? input : undefined, call)
    } catch (thrown) {
      return Promise.reject(thrown).catch(this.#failed)
    }
    return (result instanceof Promise ? result : Promise.resolve(result)).then(this.#left, this.#failed)
  }

  async #guarded(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    const value = await this.#input(input, checked)
    return await this.#result(await this.#run(this.#hasInput ? value : undefined, call), checked)
  }

  readonly #left = (result: unknown): unknown => {
    this.#around.left()
    return this.#hasOutput ? result : undefined
  }

  readonly #failed = (thrown: unknown): never => {
    this.#around.left()
    throw toCallError(thrown, this.site)
  }

  async #open(input: unknown, call: LiveCall, checked: boolean): Promise<AsyncIterator<unknown>> {
    const value = await this.#input(input, checked)
    const source = await this.#run(this.#hasInput ? value : undefined, call)
    const iterate = (source as Partial<AsyncIterable<unknown>> | undefined)?.[Symbol.asyncIterator]
    if (iterate === undefined) throw new TypeError('a stream method returned no async iterable')
    return Reflect.apply<typeof source, never[], AsyncIterator<unknown>>(iterate, source, [])
  }

  async #input(input: unknown, checked: boolean): Promise<unknown> {
    const value = this.#clones ? this.#cloneInput(input) : input
    if (!checked || this.#checkInput === undefined) return value
    const result = await this.#checkInput(value)
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

  async #result(result: unknown, checked: boolean): Promise<unknown> {
    if (!this.#hasOutput) return undefined
    let value = result
    if (checked && this.#checkOutput !== undefined) {
      const passed = await this.#checkOutput(value)
      if (passed.issues !== undefined) throw new OutputRefused(passed.issues)
      value = passed.value
    }
    return this.#clones ? cloneValue(value) : value
  }
}
