import type { Service } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { Endpoint } from '../../mesh/endpoint.ts'
import type { ServiceReport } from '../../shared/control.ts'
import type { Hosting } from './install.ts'

export interface HostedProgram extends Endpoint {
  readonly report: ServiceReport
  /** Gives a connected TCP handle to the program's own server, TLS included if it is an `https` one. */
  accept(handle: unknown): void
  /**
   * Runs the program's own SIGTERM (else SIGINT) handlers, then closes its servers: idle connections at once, those
   * with a request in flight when it is answered, all of them after `timeout` milliseconds. Never rejects.
   */
  stop(timeout: number): Promise<void>
}

/** Starts a program in this thread. Rejects with a BusbarError that names the service: one of the PROGRAM_ codes. */
export function hostProgram(service: Service, hosting: Hosting): Promise<HostedProgram> {
  void hosting
  return Promise.reject(new BusbarError('INTERNAL', { message: 'hosting is being written', service: service.name }))
}
