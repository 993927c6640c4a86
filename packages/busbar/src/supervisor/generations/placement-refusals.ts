import type { Service } from '../../config/app.ts'
import { isInternal } from '../../config/cluster/queues.ts'
import { BusbarError, errorTable } from '../../contract/errors.ts'

/**
 * Throws OPERATION_UNSUPPORTED for a service that always runs as it does. `run`: where it is to
 * move; undefined to scale it.
 */
export function refuseFixed(service: Service, run?: Service['run']): void {
  const { name, kind, double } = service
  if (isInternal(service)) throw unsupported(name, `'${name}' owns the queue of the app and runs as one thread`)
  if (double === true)
    throw unsupported(name, `a test double replaces '${name}', and runs in the process that started the app`)
  if (kind === 'command' && run !== undefined && run !== 'process')
    throw unsupported(
      name,
      `'${name}' is a command, which runs as a process of its own: it cannot move to run: '${run}'`,
      'A service whose path is a Node program, in place of command, runs at every placement.',
    )
}

/** Exit code of errors of the config. */
const ofConfig = errorTable.CONFIG_INVALID.exit

/**
 * What a placement that the config forbids is refused with. `error` was thrown for the config with
 * that placement; `loadWithout` loads it without. If that fails too, the config itself is wrong.
 */
export async function refusalOf(error: unknown, loadWithout: () => Promise<unknown>): Promise<unknown> {
  if (!BusbarError.is(error) || error.exitCode !== ofConfig) return error
  try {
    await loadWithout()
  } catch {
    return error
  }
  const { message, hint, service, cause } = error
  return new BusbarError('OPERATION_UNSUPPORTED', {
    message: `the config does not allow that: ${message}`,
    ...(hint !== undefined && { hint: `In the config: ${hint} Then reload the app.` }),
    ...(service !== undefined && { service }),
    cause,
  })
}

function unsupported(service: string, message: string, hint?: string): BusbarError {
  return new BusbarError('OPERATION_UNSUPPORTED', { message, service, ...(hint !== undefined && { hint }) })
}
