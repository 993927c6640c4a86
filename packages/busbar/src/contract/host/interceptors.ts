import type { Context } from '../context.ts'

/** The call that an interceptor stands around. */
export interface Intercepted {
  readonly service: string
  readonly method: string
  readonly input: unknown
  readonly context: Context
}

/**
 * Stands around every call of a service: looks at it, refuses it by throwing, does something before and after. `next`
 * runs the rest; what it is given becomes part of the method's context.
 */
export type Interceptor<Extra extends object = object> = (call: Intercepted, next: Next<Extra>) => Promise<unknown>

/** Resolves to the method's result; of a stream, to its values as an async iterable. */
export type Next<Extra extends object> = (...extra: keyof Extra extends never ? [] : [extra: Extra]) => Promise<unknown>

/** What an interceptor, or all of a list, put into a context: for `expects<InContext<typeof interceptors>>()`. */
export type InContext<I> =
  I extends Interceptor<infer Extra>
    ? Extra
    : I extends readonly [infer First, ...infer Rest]
      ? InContext<First> & InContext<Rest>
      : object

export type Run = (input: unknown, context: Context) => unknown

/** Once per method, so that a call makes no chain: the first one stands outermost. */
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

/** Also where a context has something of that name that cannot be assigned: its log, its metadata. */
function extend(context: Context, extra: object): void {
  for (const [key, value] of Object.entries(extra) as [string, unknown][])
    if (key in context) Object.defineProperty(context, key, { value, configurable: true, enumerable: true })
    else Reflect.set(context, key, value)
}
