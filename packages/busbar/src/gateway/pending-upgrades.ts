import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorCode, errorTable } from '../contract/errors.ts'
import { endConnection } from '../mesh/http/problem-response.ts'
import { noResponse } from './problems/gateway-problems.ts'
import type { OwnResponses } from './problems/own-responses.ts'
import type { Problem } from './problems/problem.ts'
import { noStatus } from '../shared/metrics/edge-table.ts'
import type { UpgradeCall } from './upgrade-call.ts'

export interface PendingUpgradesParts {
  readonly responses: OwnResponses
  /** Milliseconds within which a response must begin; 0 for no limit. */
  readonly responseTimeout: number
  /** The problem of an upgrade of this service that got no response in time. */
  readonly overdue: (service: string) => Problem
}

/** A client's connection, as an upgrade uses it. */
export interface UpgradedConnection {
  readonly socket: Socket
  /** Number of earlier requests that have no complete response. */
  readonly inFlight: number
  /** `bytesWritten` of the socket when the latest response ended. */
  readonly bytesOfResponses: number
}

/** The upgrades that services may not have answered yet, of open connections. */
export class PendingUpgrades {
  readonly #parts: PendingUpgradesParts
  readonly #open = new Set<PendingUpgrade>()

  constructor(parts: PendingUpgradesParts) {
    this.#parts = parts
  }

  /** To be called before the request is changed into the one that the service gets. */
  add(req: IncomingMessage, connection: UpgradedConnection, service: string): PendingUpgrade {
    const { responseTimeout, overdue, responses } = this.#parts
    const { socket } = connection
    const upgrade = new PendingUpgrade(req, connection, service, responses)
    const onOverdue = (): void => {
      // An earlier response may still be on its way.
      if (upgrade.canRespond || upgrade.progress === 'awaited' || connection.inFlight > 0)
        upgrade.fail(overdue(service))
    }
    const timer = responseTimeout === 0 ? undefined : setTimeout(onOverdue, responseTimeout).unref()
    this.#open.add(upgrade)
    socket.once('close', () => {
      clearTimeout(timer)
      this.#open.delete(upgrade)
    })
    return upgrade
  }

  fail(code: ErrorCode): void {
    for (const upgrade of this.#open) if (upgrade.canRespond) upgrade.fail(noResponse(upgrade.service, code))
  }
}

/**
 * The gateway awaits or has got the response of another service, or the program has the connection
 * itself and the gateway sees only whether bytes were written to it.
 */
export type UpgradeProgress = 'awaited' | 'answered' | 'handed over'

/**
 * An upgrade from its arrival on. Until its service has sent a byte, the gateway can respond in its
 * place, so that the client gets the same error as without an upgrade.
 */
export class PendingUpgrade {
  readonly service: string
  progress: UpgradeProgress = 'handed over'
  /** To be told before the gateway answers. */
  call: UpgradeCall | undefined
  readonly #connection: UpgradedConnection
  readonly #path: string
  readonly #method: string
  readonly #written: number
  readonly #responses: OwnResponses

  constructor(
    { url, method }: IncomingMessage,
    connection: UpgradedConnection,
    service: string,
    responses: OwnResponses,
  ) {
    this.service = service
    this.#responses = responses
    this.#connection = connection
    this.#path = url!
    this.#method = method!
    this.#written = connection.socket.bytesWritten
    this.#respondBeforeEnd(connection.socket)
  }

  /**
   * True while the gateway can: the client has got no byte of the service's, and no earlier
   * response is open.
   */
  get canRespond(): boolean {
    const { socket, inFlight, bytesOfResponses } = this.#connection
    if (this.progress === 'answered') return false
    const written = Math.max(this.#written, bytesOfResponses)
    return socket.writable && socket.bytesWritten === written && inFlight === 0
  }

  /**
   * To be called if the service has not responded, and will not. Closes the connection: with
   * `problem`, unless it would come in the middle of an earlier response.
   */
  fail(problem: Problem): void {
    const { socket } = this.#connection
    const { status } = errorTable[problem.code]
    // As a request: 503 is a response of the gateway, the others mean that there is none.
    this.call?.failed(status === 503 ? status : noStatus)
    if (this.canRespond) endConnection(socket, this.#textOf(problem))
    else socket.destroy()
  }

  /**
   * A program may end or destroy the socket without a response. An error with a `syscall` means
   * that the client is gone.
   */
  #respondBeforeEnd(socket: Socket): void {
    const end = socket.end.bind(socket)
    const destroy = socket.destroy.bind(socket)
    const respond = (): void => {
      if (!this.canRespond) return
      this.call?.failed()
      socket.write(this.#textOf(noResponse(this.service, 'SERVICE_HANGUP')))
    }
    socket.end = ((...args: Parameters<typeof end>) => {
      const [chunk] = args as unknown[]
      if (chunk === undefined || typeof chunk === 'function') respond()
      return end(...args)
    }) as typeof end
    socket.destroy = (error?: NodeJS.ErrnoException) => {
      if (error?.syscall === undefined) respond()
      return destroy(error)
    }
  }

  #textOf(problem: Problem): string {
    return this.#responses.text(problem, { path: this.#path, method: this.#method })
  }
}
