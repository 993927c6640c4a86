import { AsyncLocalStorage } from 'node:async_hooks'
import { pathToFileURL } from 'node:url'
import { BusbarError } from '../../contract/errors.ts'
import type { Interceptor } from '../../contract/host/interceptors.ts'

/** What the module opens belongs to the app, and not to the service that happens to start first. */
const clean = AsyncLocalStorage.snapshot()

/** Those of the app, from its module, which a thread loads once. */
export async function loadInterceptors(file: string | undefined): Promise<readonly Interceptor[]> {
  if (file === undefined) return []
  const module = (await clean(() => import(pathToFileURL(file).href))) as { readonly default?: unknown }
  const interceptors = [module.default].flat()
  if (interceptors.every((one): one is Interceptor => typeof one === 'function')) return interceptors
  throw new BusbarError('PROGRAM_EXPORT_UNKNOWN', {
    message: `${file}, the app's interceptors, exports no interceptor by default, and no list of them`,
    hint: 'Write `export default [signedIn]`, of functions (call, next) => next().',
  })
}
