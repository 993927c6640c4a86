import type { Socket } from 'node:net'
import { refuseConnection } from '../http/problem-response.ts'
import type { ConnectionOrigin, MeshContext } from '../mesh-context.ts'
import { noWorker } from '../../shared/metrics/worker-pair.ts'
import { openConnection } from '../sockets/connect.ts'
import { RequestWrites } from '../sockets/request-writes.ts'

export interface ForwardTarget extends ConnectionOrigin {
  readonly service: string
  /** The port that the service sees as its own. */
  readonly port: number
}

/** Forwards the bytes of one connection from outside the workers to a service, and back. */
export class ForwardedConnection {
  readonly #client: Socket
  readonly #service: Socket
  readonly #target: ForwardTarget
  readonly #requests: RequestWrites
  #isConnected = false
  /** The last bytes came from the client, so a response is due. */
  #awaitsResponse = false
  #lastBytes = performance.now()

  /**
   * `client` allows half-open connections. Everything still unread in it belongs to the service.
   */
  constructor(client: Socket, mesh: MeshContext, target: ForwardTarget) {
    this.#client = client
    this.#target = target
    // It is a process that no worker of the app has, or none that is known here.
    const origin = { ...target, worker: noWorker }
    const service = openConnection(mesh, target.service, target.port, { allowHalfOpen: true }, origin)
    this.#service = service
    this.#requests = new RequestWrites(service)
    client.on('error', () => service.resetAndDestroy()).on('close', () => service.destroy())
    service.once('connect', () => this.#connected())
    service.on('error', (error) => this.#failed(error))
    service.on('close', () => {
      if (this.#isConnected) client.destroySoon()
    })
  }

  /** True if no response is due, and no byte was transferred for that many milliseconds. */
  isIdle(milliseconds: number): boolean {
    return this.#isConnected && !this.#awaitsResponse && performance.now() - this.#lastBytes >= milliseconds
  }

  /** Its next response closes it. */
  end(): void {
    this.#requests.end()
  }

  /** Closes after all that was written. */
  close(): void {
    this.#client.destroySoon()
  }

  destroy(): void {
    this.#client.destroy()
  }

  #connected(): void {
    this.#isConnected = true
    const [client, service] = [this.#client, this.#service]
    client.on('data', () => this.#onBytes(true)).pipe(service)
    service.on('data', () => this.#onBytes(false)).pipe(client)
  }

  #onBytes(fromClient: boolean): void {
    this.#awaitsResponse = fromClient
    this.#lastBytes = performance.now()
  }

  #failed(error: Error): void {
    if (this.#client.destroyed) return
    // A partial response must not look complete.
    if (this.#isConnected) this.#client.resetAndDestroy()
    else refuseConnection(this.#client, this.#target.service, error.message)
  }
}
