import type { ErrorRecord } from '../../../../src/contract/errors.ts'
import type { EndpointState } from '../../../../src/mesh/endpoint.ts'
import type { LogRecord, ServiceReport, StopTimes } from '../../../../src/shared/control.ts'
import type { Fault } from '../../../../src/worker/host/install.ts'

export interface Started {
  readonly report: ServiceReport
  /** Connections to it are accepted by the program's server, as raw handles. */
  readonly port: number
  /** Connections to it reach the program as streams. */
  readonly streamPort: number
}

export type ToThread = { type: 'ping' } | ({ type: 'stop'; only: string | undefined } & StopTimes)

export type ToTest =
  | { type: 'started'; services: Started[] }
  | { type: 'failed'; error: ErrorRecord }
  | { type: 'pong' }
  | { type: 'log'; record: LogRecord }
  | { type: 'stopped'; closed: number; states: EndpointState[] }
  | Fault
