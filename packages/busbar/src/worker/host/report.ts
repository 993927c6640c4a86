import type { AddressInfo } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { ServiceReport } from '../../shared/control.ts'
import type { CapturedServer } from './captured-server.ts'
import { frontWarning } from './http1-front.ts'
import type { ProgramProcess } from './program-process.ts'

export function describeAddress(address: AddressInfo | string): string {
  if (typeof address === 'string') return address
  const host = address.address.includes(':') ? `[${address.address}]` : address.address
  return `${host}:${address.port}`
}

export function reportOf(
  program: ProgramProcess,
  captured: CapturedServer,
  startedIn: number,
  warnings: readonly string[],
): ServiceReport {
  const others = program.servers.filter((other) => isLost(program, captured, other))
  return {
    name: program.service.name,
    listens: describeAddress(captured.address),
    startedIn,
    ...(captured.server instanceof TlsServer && { tls: true }),
    warnings: [
      ...warnings,
      ...others.map((other) => otherWarning(program, captured, other)),
      ...[frontWarning(captured)].filter((warning) => warning !== undefined),
    ],
  }
}

/**
 * Whether nobody reaches this server of the program. A second one on the same port is the same service on another
 * address, as Fastify makes for `localhost`; one on a port that the config exposes is reached there.
 */
export function isLost({ service }: ProgramProcess, captured: CapturedServer, other: CapturedServer): boolean {
  return portOf(other) !== portOf(captured) && !service.expose.some(({ port }) => port === portOf(other))
}

export function otherWarning(program: ProgramProcess, captured: CapturedServer, other: CapturedServer): string {
  const { name, port } = program.service
  const chosen =
    port === undefined ? `the first is the service; services.${name}.port chooses` : 'nobody reaches the other'
  return `listens on ${describePort(captured)} and on ${describePort(other)}: ${chosen}`
}

/** The path for one that listens on a path. */
export function portOf({ address }: CapturedServer): number | string {
  return typeof address === 'string' ? address : address.port
}

function describePort(captured: CapturedServer): string {
  const port = portOf(captured)
  return typeof port === 'string' ? port : `port ${port}`
}
