import { checkOf, type Schema } from '../schema.ts'
import { inputInvalid } from './failures.ts'
import type { Interceptor } from './interceptors.ts'

/** Makes of what a caller says beside its input what the contract says of it. Before all that the service does itself. */
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
