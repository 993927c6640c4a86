import type { AddressInfo } from 'node:net'
import type { ServiceReport } from '../../shared/control.ts'
import type { CapturedServer } from './listen.ts'
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
  const others = program.servers.filter((other) => isOther(captured, other))
  return {
    name: program.service.name,
    listens: describeAddress(captured.address),
    startedIn,
    warnings: [
      ...warnings,
      ...others.map((other) => otherWarning(program, captured, other)),
      ...[frontWarning(captured)].filter((warning) => warning !== undefined),
    ],
  }
}

/** A second server on the same port is the same service on another address, as Fastify makes for `localhost`. */
export function isOther(captured: CapturedServer, other: CapturedServer): boolean {
  return portOf(other) !== portOf(captured)
}

export function otherWarning(program: ProgramProcess, captured: CapturedServer, other: CapturedServer): string {
  const { name, port } = program.service
  const chosen =
    port === undefined ? `the first is the service; services.${name}.port chooses` : 'nobody reaches the other'
  return `listens on ${portOf(captured)} and on ${portOf(other)}: ${chosen}`
}

function portOf({ address }: CapturedServer): string {
  return typeof address === 'string' ? address : `port ${address.port}`
}
