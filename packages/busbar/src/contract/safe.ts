import type { CallPromise, ErrorOf } from './calls.ts'
import { BusbarError } from './errors.ts'
import type { DeclaredErrors } from './errors.ts'

export type Outcome<T, E extends DeclaredErrors> = readonly [ErrorOf<E>, undefined] | readonly [undefined, T]

/** `const [error, product] = await safe(products.product({ id }))`: the failure as a typed value. Never rejects. */
export async function safe<T, E extends DeclaredErrors>(call: CallPromise<T, E>): Promise<Outcome<T, E>> {
  try {
    return [undefined, await call]
  } catch (thrown) {
    // Declared codes are in no table.
    const isOurs = thrown instanceof Error && thrown.name === 'BusbarError'
    return [(isOurs ? thrown : BusbarError.from(thrown)) as unknown as ErrorOf<E>, undefined]
  }
}
