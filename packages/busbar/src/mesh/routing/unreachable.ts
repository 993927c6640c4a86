/** Errors for calls to a service that no instance answers. */
import { constants } from 'node:os'
import { BusbarError } from '../../contract/errors.ts'
import type { LocalEndpoint } from './endpoint.ts'
import type { Router, ServiceState } from './router.ts'

/** What an HTTP client gets if no instance serves: the error of a closed port. */
export interface ConnectionRefused extends NodeJS.ErrnoException {
  readonly code: 'ECONNREFUSED'
  readonly address: string
  readonly port: number
  readonly service: string
}

const reasons: Readonly<Record<ServiceState, (service: string) => string>> = {
  starting: (service) =>
    `service '${service}' has not started yet; a service that calls it while starting lists it under \`needs\``,
  serving: (service) => `service '${service}' is not reachable`,
  unhealthy: (service) => `service '${service}' is unhealthy: its health checks fail`,
  draining: (service) => `service '${service}' is stopping and accepts no new calls`,
  stopped: (service) => `service '${service}' has stopped`,
}

export function reasonUnreachable(router: Router, service: string): string {
  return router.explain?.(service) ?? reasons[router.stateOf(service)](service)
}

/** True if the instance accepts calls over links. A caller may not know yet that it is stopping. */
export function acceptsCalls(endpoint: LocalEndpoint | undefined): endpoint is LocalEndpoint {
  return endpoint !== undefined && endpoint.state !== 'stopped' && endpoint.server.listening
}

/** Clients retry or report this code as they do for a server that is down. */
export function connectionRefused(router: Router, service: string, port = 80): ConnectionRefused {
  return connectionRefusedError(reasonUnreachable(router, service), service, port)
}

/** The same error, for a call that reached an instance which does not accept it. */
export function connectionRefusedBy({ service, state }: LocalEndpoint): ConnectionRefused {
  return connectionRefusedError(reasons[state](service), service)
}

export function connectionRefusedError(reason: string, service: string, port = 80): ConnectionRefused {
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

/**
 * Calls between services of one app are not encrypted, and there is no certificate for such a name.
 */
export function httpsRefused(service: string): BusbarError {
  return new BusbarError('HTTPS_TO_SERVICE', {
    message: `${service}.internal is a service of this app and is called without TLS: write http://${service}.internal`,
    hint: `Write http:// instead of https://, ws:// instead of wss://.`,
    service,
  })
}
