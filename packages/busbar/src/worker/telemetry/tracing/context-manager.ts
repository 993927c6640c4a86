import { AsyncLocalStorage } from 'node:async_hooks'
import type { EventEmitter } from 'node:events'
import type { Context, ContextManager, TextMapGetter, TextMapPropagator, TextMapSetter } from '@opentelemetry/api'
import { parentField, stateField } from '../../../mesh/tracing/trace-headers.ts'
import { currentScope, runInScope, type Scope } from '../../../mesh/scope.ts'
import { spanContextOf, traceOf, type TracingApi } from './span-context.ts'

/**
 * The contexts of OpenTelemetry's API are those of Busbar's scopes: the active span of a request is
 * the span of its call, and a call has the active span as its parent.
 */
export class ScopeContextManager implements ContextManager {
  readonly #api: TracingApi
  /** For code outside of any service. */
  readonly #outside = new AsyncLocalStorage<Context>()
  readonly #derived = new WeakMap<Scope, Context>()

  constructor(api: TracingApi) {
    this.#api = api
  }

  active(): Context {
    const scope = currentScope()
    if (scope === undefined) return this.#outside.getStore() ?? this.#api.ROOT_CONTEXT
    return (scope.context as Context | undefined) ?? this.#contextOf(scope)
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    run: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    const call = (): ReturnType<F> => Reflect.apply(run, thisArg, args)
    const scope = currentScope()
    if (scope === undefined) return this.#outside.run(context, call)
    const trace = traceOf(this.#api.trace.getSpan(context), this.#api)
    return runInScope({ ...scope, trace, context }, call)
  }

  bind<T>(context: Context, target: T): T {
    if (typeof target === 'function') return this.#bindFunction(context, target as never) as T
    if (typeof (target as EventEmitter | null)?.emit !== 'function') return target
    const emitter = target as EventEmitter
    const emit = emitter.emit.bind(emitter) as (...args: unknown[]) => boolean
    emitter.emit = (...args: unknown[]) => this.with(context, () => emit(...args))
    return target
  }

  enable(): this {
    return this
  }

  disable(): this {
    return this
  }

  #bindFunction(context: Context, target: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
    const withContext = this.with.bind(this)
    const bound = function (this: unknown, ...args: unknown[]): unknown {
      return withContext(context, () => Reflect.apply(target, this, args))
    }
    Object.defineProperty(bound, 'length', { value: target.length, configurable: true })
    return bound
  }

  #contextOf(scope: Scope): Context {
    const { trace: spans, ROOT_CONTEXT } = this.#api
    if (scope.trace === undefined) return ROOT_CONTEXT
    let context = this.#derived.get(scope)
    if (context === undefined) {
      const span = spanContextOf(scope.trace, this.#api)
      context = span === undefined ? ROOT_CONTEXT : spans.setSpan(ROOT_CONTEXT, spans.wrapSpanContext(span))
      this.#derived.set(scope, context)
    }
    return context
  }
}

/** The header fields of W3C. */
export class TracePropagator implements TextMapPropagator {
  readonly #api: TracingApi

  constructor(api: TracingApi) {
    this.#api = api
  }

  inject(context: Context, carrier: unknown, setter: TextMapSetter): void {
    const trace = traceOf(this.#api.trace.getSpan(context), this.#api)
    if (trace === undefined) return
    setter.set(carrier, parentField, trace.traceparent)
    if (trace.tracestate !== undefined) setter.set(carrier, stateField, trace.tracestate)
  }

  extract(context: Context, carrier: unknown, getter: TextMapGetter): Context {
    const textOf = (key: string): string | undefined => {
      const value = getter.get(carrier, key)
      return Array.isArray(value) ? value.join(',') : value
    }
    const [traceparent, tracestate] = [textOf(parentField), textOf(stateField)]
    if (traceparent === undefined) return context
    const span = spanContextOf({ traceparent, ...(tracestate !== undefined && { tracestate }) }, this.#api)
    if (span === undefined) return context
    const { trace } = this.#api
    return trace.setSpanContext(context, { ...span, isRemote: true })
  }

  fields(): string[] {
    return [parentField, stateField]
  }
}
