import type { PreparedTrial } from '../../../adopt/trying/prepare-trial.ts'
import { BusbarError } from '../../../contract/errors.ts'
import type { Flags } from '../../command.ts'
import type { TriedRequest } from './lab.ts'

/**
 * What is requested: `--path`, the file of `--requests`, else the examples of OpenAPI documents and
 * `/`. Throws USAGE.
 */
export async function requestsOf(
  trial: PreparedTrial,
  { path = [], requests }: Flags,
  read: (file: string) => Promise<TriedRequest[]>,
): Promise<{ requests: readonly TriedRequest[] }> {
  for (const one of path)
    if (!one.startsWith('/'))
      throw new BusbarError('USAGE', { message: `--path needs a path such as /items, not "${one}"` })
  const given = [...path.map((one) => get(one)), ...(requests === undefined ? [] : await read(requests))]
  for (const { service } of given) if (service !== undefined) checkService(service, trial)
  if (given.length > 0) return { requests: given }
  const documented = trial.documents.flatMap(({ service, requests: found }) =>
    isReachable(service, trial)
      ? found.map((one) => ({ ...get(one.path), method: one.method, ...(service !== trial.entry && { service }) }))
      : [],
  )
  const hasEntry = documented.some(({ service }) => service === undefined)
  return { requests: hasEntry ? documented : [get('/'), ...documented] }
}

function get(path: string): TriedRequest {
  return { method: 'GET', path, headers: [], weight: 1 }
}

function checkService(service: string, trial: PreparedTrial): void {
  const names = trial.app.services.map(({ name }) => name)
  if (!names.includes(service))
    throw new BusbarError('USAGE', {
      message: `a request names the service "${service}"; there are ${names.join(', ')}`,
    })
  if (!isReachable(service, trial))
    throw new BusbarError('USAGE', {
      message: `a request names the service "${service}", which has no port of its own under Busbar or as today`,
      hint: `Only requests to ${trial.entry} need no port: leave the service out.`,
    })
}

/** At the gateway, or at a port of its own in every arm. */
function isReachable(service: string, { entry, exposed, today }: PreparedTrial): boolean {
  if (service === entry) return true
  const own = today.services.find(({ name }) => name === service)?.port
  return exposed[service] !== undefined && (today.notToday !== undefined || own !== undefined)
}
