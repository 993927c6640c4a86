import { Server as TlsServer } from 'node:tls'
import type { ServiceReport } from '../../shared/control-messages.ts'
import { type CapturedServer, describeAddress, portOf } from './servers/captured-server.ts'
import { http2Warning } from './servers/http1-front.ts'
import type { ProgramProcess } from './process/program-process.ts'

export function reportOf(
  program: ProgramProcess,
  captured: CapturedServer,
  startedIn: number,
  warnings: readonly string[],
): ServiceReport {
  const others = program.servers.filter((other) => isUnreachable(program, captured, other))
  return {
    name: program.service.name,
    listens: describeAddress(captured.address),
    startedIn,
    ...(captured.server instanceof TlsServer && { tls: true }),
    warnings: [
      ...warnings,
      ...others.map((other) => otherServerWarning(program, captured, other)),
      ...[http2Warning(captured)].filter((warning) => warning !== undefined),
    ],
  }
}

/**
 * True if no caller can reach this other server of the program. A second server on the same port is
 * the same service on another address, as Fastify creates for `localhost`. A server on a port that
 * the config exposes is reached there.
 */
export function isUnreachable({ service }: ProgramProcess, captured: CapturedServer, other: CapturedServer): boolean {
  return portOf(other) !== portOf(captured) && !service.expose.some(({ port }) => port === portOf(other))
}

export function otherServerWarning(program: ProgramProcess, captured: CapturedServer, other: CapturedServer): string {
  const { name, port } = program.service
  const consequence =
    port === undefined
      ? `the first one is the service. Set services.${name}.port to choose`
      : 'the second one cannot be reached'
  return `listens on ${describePort(captured)} and on ${describePort(other)}: ${consequence}`
}

function describePort(captured: CapturedServer): string {
  const port = portOf(captured)
  return typeof port === 'string' ? port : `port ${port}`
}
