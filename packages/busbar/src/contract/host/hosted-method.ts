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
  readonly signalled: Set<LiveCall>
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
  readonly #checkInput: Check | undefined
  readonly #checkOutput: Check | undefined

  constructor(name: string, spec: Method, run: Run, around: Around) {
    const { service, options, signalled } = around
    this.name = name
    this.spec = spec
    this.site = { service, method: name, log: options.log, fail: failOf(() => this.site, spec.errors), signalled }
    this.#around = around
    this.#run = compose(around.interceptors, { service, method: name }, run)
    this.#clones = options.clone
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

  /** The one function around every method: what it costs beside the method itself is one promise more. */
  async #answer(input: unknown, call: LiveCall, checked: boolean): Promise<unknown> {
    const around = this.#around
    const refusal = around.refusal()
    if (refusal !== undefined) throw refusal
    around.began()
    try {
      // Awaited only where there is something to wait for: each await costs a turn of the queue.
      let value = input
      if (this.#clones || (checked && this.#checkInput !== undefined)) value = await this.#input(input, checked)
      const result = await this.#run(this.spec.input === undefined ? undefined : value, call)
      if (this.spec.output === undefined) return undefined
      return this.#clones || (checked && this.#checkOutput !== undefined) ? await this.#result(result, checked) : result
    } catch (thrown) {
      throw toCallError(thrown, this.site)
    } finally {
      around.left()
    }
  }

  async #open(input: unknown, call: LiveCall, checked: boolean): Promise<AsyncIterator<unknown>> {
    const value = await this.#input(input, checked)
    const source = await this.#run(this.spec.input === undefined ? undefined : value, call)
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
    let value = result
    if (checked && this.#checkOutput !== undefined) {
      const passed = await this.#checkOutput(value)
      if (passed.issues !== undefined) throw new OutputRefused(passed.issues)
      value = passed.value
    }
    return this.#clones ? cloneValue(value) : value
  }
}
