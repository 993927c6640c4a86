import { constants } from 'node:os'
import { BusbarError } from '../contract/errors.ts'
import type { LocalEndpoint } from './endpoint.ts'
import type { Router, ServiceState } from './router.ts'

/** What a client gets that calls a service of which no instance serves: what a closed port would give it. */
export interface ConnectionRefused extends NodeJS.ErrnoException {
  readonly code: 'ECONNREFUSED'
  readonly address: string
  readonly port: number
  readonly service: string
}

const reasons: Readonly<Record<ServiceState, (service: string) => string>> = {
  starting: (service) =>
    `service ${service} has not started yet; a service that calls it while starting lists it under \`needs\``,
  serving: (service) => `service ${service} is not reachable`,
  draining: (service) => `service ${service} is stopping and takes no new calls`,
  stopped: (service) => `service ${service} has stopped`,
}

export function reasonUnreachable(router: Router, service: string): string {
  return reasons[router.stateOf(service)](service)
}

/** Whether a call that came over a link is taken: whoever sent it may not have heard yet that the instance stops. */
export function takesCalls(endpoint: LocalEndpoint | undefined): endpoint is LocalEndpoint {
  return endpoint !== undefined && endpoint.state !== 'stopped' && endpoint.server.listening
}

/** Clients know the code: they retry, or report it, as they would for a server that is down. */
export function connectionRefused(router: Router, service: string, port = 80): ConnectionRefused {
  return refusedSince(reasonUnreachable(router, service), service, port)
}

/** The same, where a call has come to an instance that takes none. */
export function refusedBy({ service, state }: LocalEndpoint): ConnectionRefused {
  return refusedSince(reasons[state](service), service)
}

export function refusedSince(reason: string, service: string, port = 80): ConnectionRefused {
  const address = `${service}.internal`
  return Object.assign(new Error(`connect ECONNREFUSED ${address}:${port} (${reason})`), {
    code: 'ECONNREFUSED' as const,
    errno: -constants.errno.ECONNREFUSED,
    syscall: 'connect',
    address,
    port,
    service,
  })
}

/** Between services of one app there is no wire to encrypt, and no certificate for such a name. */
export function httpsRefused(service: string): BusbarError {
  return new BusbarError('HTTPS_TO_SERVICE', {
    message: `${service}.internal is a service of this app and is called without TLS: write http://${service}.internal`,
    hint: `write http:// instead of https://, ws:// instead of wss://`,
    service,
  })
}
