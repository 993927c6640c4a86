import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { BusbarError } from '../../contract/errors.ts'
import { startHost, type HostOptions, type TypedHost } from '../../contract/host/typed-host.ts'
import type { Interceptor } from '../../contract/host/interceptors.ts'
import { isImplementation, type Implementation } from '../../contract/implementation.ts'
import { runInScope } from '../../mesh/scope.ts'
import { loadEntry } from '../sandbox/start/load-entry.ts'
import type { ProgramProcess } from '../sandbox/process/program-process.ts'
import type { Programs } from '../sandbox/process/programs.ts'
import { startError } from '../sandbox/start/start-errors.ts'

/**
 * Loads a typed service's module and creates its implementation. Rejects with a BusbarError, also
 * when `startTimeout` expires. `own`: the implementation of a service that is part of Busbar.
 */
export async function startTypedService(
  program: ProgramProcess,
  programs: Programs,
  options: () => Promise<HostOptions>,
  own?: Implementation,
): Promise<TypedHost> {
  const { name, startTimeout } = program.service
  const ended = Promise.withResolvers<never>()
  program.enterPhase({ is: 'starting', ended: ({ error }) => ended.reject(error) })
  const over = new AbortController()
  const late = sleep(startTimeout, undefined, { signal: over.signal }).then(() => {
    throw timeout(program)
  })
  try {
    const starting = runInScope({ service: name, hops: 0 }, async () => {
      return await startHost(own ?? (await loadImplementation(program, programs)), await options())
    })
    return await Promise.race([starting, ended.promise, late])
  } catch (thrown) {
    throw BusbarError.is(thrown) ? thrown : startError(program, thrown)
  } finally {
    over.abort()
    late.catch(() => {})
  }
}

/** The interceptors' module belongs to the app, not to the service that loads it first. */
const inCleanContext = AsyncLocalStorage.snapshot()

/** Loads the app's interceptors from their module, once per thread. */
export async function loadInterceptors(file: string | undefined): Promise<readonly Interceptor[]> {
  if (file === undefined) return []
  const module = (await inCleanContext(() => import(pathToFileURL(file).href))) as { readonly default?: unknown }
  const interceptors = [module.default].flat()
  if (interceptors.every((one): one is Interceptor => typeof one === 'function')) return interceptors
  throw new BusbarError('PROGRAM_EXPORT_UNKNOWN', {
    message: `the app's interceptors, ${file}, have no default export that is an interceptor or a list of interceptors`,
    hint: 'Write `export default [signedIn]`, where signedIn is a function (call, next) => next().',
  })
}

async function loadImplementation(program: ProgramProcess, programs: Programs): Promise<Implementation> {
  const { value } = await loadEntry(program, programs)
  return requireImplementation(program, await value)
}

function requireImplementation({ service }: ProgramProcess, value: unknown): Implementation {
  if (isImplementation(value)) return value
  throw new BusbarError('PROGRAM_EXPORT_UNKNOWN', {
    message: `service '${service.name}' has a contract, but the default export of ${service.entry.file} is no implementation`,
    hint: 'Write `export default contract.implement({ … })`. If the service is a program, remove the file contract.* beside its entry.',
    service: service.name,
  })
}

function timeout({ service }: ProgramProcess): BusbarError {
  return new BusbarError('PROGRAM_START_TIMEOUT', {
    message: `service '${service.name}' (${service.entry.file}) was not ready within ${service.startTimeout} ms`,
    hint: `Raise services.${service.name}.startTimeout if it needs longer.`,
    service: service.name,
  })
}
