import type { Address, App } from '../config/app.ts'
import type { BusbarError } from '../contract/errors.ts'
import type { Router } from '../mesh/router.ts'
import type { WorkerCells } from '../shared/cells.ts'
import type { LogRecord, TlsMaterial } from '../shared/control.ts'

export interface GatewayParts {
  readonly app: App
  readonly router: Router
  /** Undefined serves plain HTTP. */
  readonly tls: TlsMaterial | undefined
  readonly log: (level: LogRecord['level'], line: string) => void
  /** Where requests in flight and closed connections are counted, if anywhere. */
  readonly cells?: Pick<WorkerCells, 'addInFlight' | 'countClosed'>
}

/** The public entrance, as it stands in one worker. */
export interface Gateway {
  /** Takes a connected TCP handle that nobody has read from; closes it at once after {@link stop}. */
  accept(handle: unknown): void
  /** Opens a port of this worker's own, which the kernel balances (`SO_REUSEPORT`). Resolves to the port. */
  listen(address: Address): Promise<number>
  /** For connections that come from now on. */
  setTls(tls: TlsMaterial): void
  /** Answers 502 to every request (of one service, or all) that has no answer yet, and cuts the answers that have begun. */
  fail(error: BusbarError, service?: string): void
  /**
   * Closes idle connections, answers what is in flight with `connection: close`, and after `timeout` milliseconds cuts
   * the rest. Upgraded connections are not waited for: they are their program's to close.
   */
  stop(timeout: number): Promise<void>
  /** Cuts every connection, upgraded ones too. */
  destroy(): void
  readonly connections: number
  readonly inFlight: number
}

/** True when the one service answers everything itself: then its server gets the connections with nothing in between. */
export function isRawEntry(app: App): boolean {
  const { entry, routes, tls } = app.gateway
  return entry !== undefined && routes.length === 0 && tls === undefined
}

export function createGateway(parts: GatewayParts): Gateway {
  throw new Error(`not yet: ${parts.app.name}`)
}
