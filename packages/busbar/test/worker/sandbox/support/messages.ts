import type { ErrorRecord } from '../../../../src/contract/errors.ts'
import type { EndpointState } from '../../../../src/mesh/routing/endpoint.ts'
import type { LogRecord, ServiceReport } from '../../../../src/shared/control-messages.ts'
import type { StopTimes } from '../../../../src/shared/time/stop-times.ts'
import type { Fault } from '../../../../src/worker/sandbox/sandbox.ts'

export interface Started {
  readonly report: ServiceReport
  /** A port whose connections the program's server accepts. */
  readonly port: number
  /** A port whose connections reach the program over the mesh. */
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
