import { BusbarError } from '../../../contract/errors.ts'
import type { WorkerHandle } from '../../workers/worker-handle.ts'
import type { OperationContext } from './operation.ts'
import type { App, Service } from '../../../config/app.ts'
import { serviceUnknown } from '../../../contract/host/unknown-names.ts'

type Where = Pick<OperationContext, 'running' | 'workers'>

/**
 * The workers that serve a service. Throws SERVICE_UNKNOWN, or SERVICE_UNAVAILABLE if none does.
 */
export function servingWorkers(service: string, { running, workers }: Where): readonly WorkerHandle[] {
  knownService(running.app, service)
  const serving = workers().filter((worker) => worker.serving && instanceIn(worker, service) !== undefined)
  if (serving.length > 0) return serving
  throw new BusbarError('SERVICE_UNAVAILABLE', { message: `no instance of '${service}' serves now`, service })
}

/** The worker of one instance; by default of the first that serves. */
export function servingWorker(service: string, instance: number | undefined, where: Where): WorkerHandle {
  const serving = servingWorkers(service, where)
  const found = serving.find((worker) => instance === undefined || instanceIn(worker, service) === instance)
  if (found !== undefined) return found
  const indexes = [...new Set(serving.map((worker) => instanceIn(worker, service)))]
  const hint = `These do: ${indexes.join(', ')}.`
  // One that the app is to have may serve again; any other is the client's mistake.
  if (instance! < knownService(where.running.app, service).instances)
    throw new BusbarError('SERVICE_UNAVAILABLE', {
      message: `instance ${instance} of '${service}' does not serve`,
      hint,
      service,
    })
  throw new BusbarError('INPUT_INVALID', {
    message: `'${service}' has no instance ${instance}`,
    hint,
    service,
    data: { issues: [{ path: ['instance'], message: 'there is no such instance' }] },
  })
}

/** Commands and test doubles run no code of Busbar. */
export function requireNode({ spec }: WorkerHandle, service: string, what: string): void {
  if (spec.kind !== 'command') return
  throw new BusbarError('OPERATION_UNSUPPORTED', {
    message: `'${service}' is a command, and ${what} is for programs and typed services`,
    hint: 'Use the tools of its own runtime on its process: busbar ps shows the process ID.',
    service,
  })
}

function instanceIn({ spec }: WorkerHandle, service: string): number | undefined {
  return spec.hosts.find(({ name }) => name === service)?.index
}

/** Throws SERVICE_UNKNOWN with the nearest names. */
export function knownService({ services }: App, name: string): Service {
  const found = services.find((service) => service.name === name)
  if (found !== undefined) return found
  throw serviceUnknown(
    name,
    services.map((service) => service.name),
  )
}
