import type { Context } from '../context.ts'
import { checkOf, type Schema } from '../schema.ts'
import { inputInvalid } from './failures.ts'

/** A call as an interceptor sees it. */
export interface Intercepted {
  readonly service: string
  readonly method: string
  readonly input: unknown
  readonly context: Context
}

/**
 * Runs around every call of a service: it can observe the call, refuse it by throwing, and act
 * before and after it. `next` runs the rest; its argument is added to the method's context.
 */
export type Interceptor<Extra extends object = object> = (call: Intercepted, next: Next<Extra>) => Promise<unknown>

/** Resolves to the method's result; for a stream, to an async iterable of its values. */
export type Next<Extra extends object> = (...extra: keyof Extra extends never ? [] : [extra: Extra]) => Promise<unknown>

/**
 * The context fields that one interceptor, or a list of them, adds: for
 * `expects<InContext<typeof interceptors>>()`.
 */
export type InContext<I> =
  I extends Interceptor<infer Extra>
    ? Extra
    : I extends readonly [infer First, ...infer Rest]
      ? InContext<First> & InContext<Rest>
      : object

export type Run = (input: unknown, context: Context) => unknown

/** Composed once per method, so a call builds no chain. The first interceptor is the outermost. */
export function compose(
  interceptors: readonly Interceptor[],
  method: { service: string; method: string },
  run: Run,
): Run {
  return interceptors.reduceRight<Run>(
    (inner, interceptor) => (input, context) =>
      interceptor({ ...method, input, context }, async (...[extra]: [extra?: object]) => {
        if (extra !== undefined) extend(context, extra)
        return await inner(input, context)
      }),
    run,
  )
}

/** Also replaces read-only fields of the context, such as its log or metadata. */
function extend(context: Context, extra: object): void {
  for (const [key, value] of Object.entries(extra) as [string, unknown][])
    if (key in context) Object.defineProperty(context, key, { value, configurable: true, enumerable: true })
    else Reflect.set(context, key, value)
}

/**
 * Validates metadata by the contract's schema and replaces it with the result. Runs before the
 * service's own interceptors.
 */
export function checkMetadata(schema: Schema): Interceptor {
  const check = checkOf(schema)
  const interceptor: Interceptor<{ metadata: unknown }> = async ({ service, method, context }, next) => {
    const result = check === undefined ? { value: context.metadata } : await check({ ...context.metadata })
    if (result.issues === undefined) return await next({ metadata: result.value })
    const issues = result.issues.map(({ path, message }) => ({ path: ['metadata', ...path], message }))
    throw inputInvalid({ service, method }, issues)
  }
  return interceptor
}
