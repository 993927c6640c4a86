import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarError } from '../../contract/errors.ts'
import { startHost, type HostOptions, type TypedHost } from '../../contract/host/host.ts'
import { isImplementation, type Implementation } from '../../contract/implementation.ts'
import { runInScope } from '../../mesh/scope.ts'
import { loadEntry } from '../host/load.ts'
import type { ProgramProcess } from '../host/program-process.ts'
import type { Programs } from '../host/programs.ts'
import { startError } from '../host/start-errors.ts'

/** Loads a typed service's module and makes its implementation. Rejects with a BusbarError, also when its time runs out. */
export async function startTyped(
  program: ProgramProcess,
  programs: Programs,
  options: () => Promise<HostOptions>,
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
      const { value } = await loadEntry(program, programs)
      return await startHost(requireImplementation(program, await value), await options())
    })
    return await Promise.race([starting, ended.promise, late])
  } catch (thrown) {
    throw BusbarError.is(thrown) ? thrown : startError(program, thrown)
  } finally {
    over.abort()
    late.catch(() => {})
  }
}

function requireImplementation({ service }: ProgramProcess, value: unknown): Implementation {
  if (isImplementation(value)) return value
  throw new BusbarError('PROGRAM_EXPORT_UNKNOWN', {
    message: `service '${service.name}' has a contract, but ${service.entry.file} exports no implementation by default`,
    hint: 'Write `export default contract.implement({ … })`. A program has no file contract.* beside its entry.',
    service: service.name,
  })
}

function timeout({ service }: ProgramProcess): BusbarError {
  return new BusbarError('PROGRAM_START_TIMEOUT', {
    message: `service '${service.name}' (${service.entry.file}) was not ready within ${service.startTimeout} ms`,
    hint: `Raise services.${service.name}.startTimeout if it needs longer`,
    service: service.name,
  })
}
