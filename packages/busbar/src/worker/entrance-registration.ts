import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorRecord, restoreError } from '../contract/errors.ts'
import { DuplexBridge } from '../entrance/duplex-bridge.ts'
import { EntranceWorker } from '../entrance/entrance-worker.ts'
import { loadEntrance } from '../entrance/load.ts'
import type { StopTimes } from '../shared/time/stop-times.ts'
import type { EntranceAccess } from '../shared/entrance/entrance.ts'
import type { GrpcCarrier } from '../shared/entrance/grpc-carrier.ts'
import type { ServeRequest } from '../shared/entrance/http-carrier.ts'
import type { HostedService } from './hosted-service.ts'
import type { ServiceHealth } from './lifecycle/service-health.ts'

/** Milliseconds. The entrance sends no event when the last request has been answered. */
const pollInterval = 10

/** What takes the requests that the entrance gives to this worker. */
export interface EntranceSinks {
  /** Gets a connection for each client that sends requests. */
  readonly accept: (socket: Socket) => void
  /** Gets each gRPC call. Undefined if the app serves none. */
  readonly serveCall?: ((carrier: GrpcCarrier) => void) | undefined
  /** Is offered each other request first. Undefined: all of them need a connection. */
  readonly serveRequest?: ServeRequest | undefined
}

/** This worker as one of those to which the native entrance gives requests. */
export class EntranceRegistration {
  readonly #bridge: DuplexBridge
  readonly #worker: EntranceWorker

  private constructor(bridge: DuplexBridge, worker: EntranceWorker) {
    this.#bridge = bridge
    this.#worker = worker
  }

  static join({ file, id }: EntranceAccess, { accept, serveCall, serveRequest }: EntranceSinks): EntranceRegistration {
    let bridge: DuplexBridge | undefined
    const worker = new EntranceWorker(
      loadEntrance(file),
      id,
      false,
      (replies) => (bridge = new DuplexBridge(accept, replies)),
      serveCall,
      serveRequest,
    )
    return new EntranceRegistration(bridge!, worker)
  }

  /** This worker gets a growing share of the requests for `window` milliseconds. */
  startSlowly(window: number): void {
    this.#worker.startSlowly(window)
  }

  /**
   * Other workers get the requests from now on. Resolves when this one has answered those that it
   * has, at the latest after `timeout` milliseconds. Clients keep their connections.
   */
  async leave(timeout: number): Promise<void> {
    this.#worker.drain()
    const end = performance.now() + timeout
    while (this.#worker.requests > 0 && performance.now() < end) await sleep(pollInterval)
    if (this.#worker.requests === 0) this.#bridge.forgetIdle()
  }

  /**
   * The whole app stops: answers requests for as long as clients may send them, since they have not
   * been told that their connections close. The entrance closes those that are idle.
   */
  async outlast({ timeout, quiet }: StopTimes): Promise<void> {
    const end = performance.now() + timeout
    await sleep(Math.min(quiet, timeout / 2))
    while ((this.#worker.requests > 0 || this.#worker.clients > 0) && performance.now() < end) await sleep(pollInterval)
    this.#worker.drain()
  }

  /** While it is unhealthy, other workers get the requests; without any, clients get a 503. */
  setHealthy(isHealthy: boolean): void {
    this.#worker.pause(!isHealthy)
  }

  /**
   * The thread is about to end: sends the answers of this turn, and no others. The entrance answers
   * what is left, or gives it to another worker.
   */
  abandon(): void {
    this.#worker.replies.close()
  }

  /** Gives back what it has not begun. Upgraded connections end. */
  close(): void {
    this.#worker.close()
  }
}

/**
 * Returns a function that registers this worker with the entrance. Throws for an entry whose own
 * server does TLS. `health`: that of the entry, whose server gets the requests.
 */
export function joinerOf(
  access: EntranceAccess,
  sinks: EntranceSinks,
  entry: Pick<HostedService, 'service' | 'report'> | undefined,
  health: Pick<ServiceHealth, 'watch'> | undefined,
): () => EntranceRegistration {
  if (entry?.report.tls === true) throw restoreError(ownTls(entry.service))
  return () => {
    const member = EntranceRegistration.join(access, sinks)
    health?.watch((isHealthy) => member.setHealthy(isHealthy))
    return member
  }
}

function ownTls(service: string): ErrorRecord {
  return {
    code: 'PLACEMENT_UNSUPPORTED',
    message: `service '${service}' has a TLS server of its own, and gateway.entrance is 'native': the entrance reads requests, not TLS`,
    hint: 'Write gateway.raw: true, or let the program listen without TLS.',
    service,
  }
}
