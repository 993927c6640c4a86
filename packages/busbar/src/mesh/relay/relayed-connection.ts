import type { Socket } from 'node:net'
import type { HttpMesh } from '../mesh.ts'
import { problemOf } from '../problem.ts'
import type { Origin } from '../sockets/connect.ts'
import { openConnection } from '../streams.ts'

export interface RelayTarget extends Origin {
  readonly service: string
  /** That the service sees as its own. */
  readonly port: number
}

/** Milliseconds that a client may take to read why it was refused. */
const lingering = 1_000

/** A connection from outside of the workers that leads on to a service, as bytes in both directions. */
export class RelayedConnection {
  readonly #client: Socket
  readonly #service: Socket
  readonly #target: RelayTarget
  #isConnected = false
  /** Its last bytes came from the client, so that an answer is due. */
  #isAsked = false
  #lastBytes = performance.now()

  /** `client` is half-open, and nothing has been read from it but what does not belong to the service. */
  constructor(client: Socket, mesh: HttpMesh, target: RelayTarget) {
    this.#client = client
    this.#target = target
    const service = openConnection(mesh, target.service, target.port, { allowHalfOpen: true }, target)
    this.#service = service
    client.on('error', () => service.resetAndDestroy()).on('close', () => service.destroy())
    service.once('connect', () => this.#connected())
    service.on('error', (error) => this.#failed(error))
    service.on('close', () => {
      if (this.#isConnected) client.destroySoon()
    })
  }

  /** Nothing is due to its client, and nothing has come or gone for so many milliseconds. */
  isQuiet(milliseconds: number): boolean {
    return this.#isConnected && !this.#isAsked && performance.now() - this.#lastBytes >= milliseconds
  }

  /** Behind what was written. */
  close(): void {
    this.#client.destroySoon()
  }

  destroy(): void {
    this.#client.destroy()
  }

  #connected(): void {
    this.#isConnected = true
    const [client, service] = [this.#client, this.#service]
    client.on('data', () => this.#note(true)).pipe(service)
    service.on('data', () => this.#note(false)).pipe(client)
  }

  #note(fromClient: boolean): void {
    this.#isAsked = fromClient
    this.#lastBytes = performance.now()
  }

  #failed(error: Error): void {
    if (this.#client.destroyed) return
    // What it has of an answer must not look like the whole.
    if (this.#isConnected) this.#client.resetAndDestroy()
    else this.#refuse(error)
  }

  /** Whatever it was to be: clients of HTTP show this, and others that it is no answer of theirs. */
  #refuse({ message }: Error): void {
    const client = this.#client
    const { status, statusText, headers, body } = problemOf('SERVICE_UNAVAILABLE', message, this.#target.service, {
      'retry-after': '1',
      connection: 'close',
    })
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    client.end(`HTTP/1.1 ${status} ${statusText}\r\n${fields.join('')}\r\n${body}`)
    // Unread bytes would make the system reset the connection, and the client lose the answer.
    client.resume().once('end', () => client.destroy())
    client.setTimeout(lingering, () => client.destroy())
  }
}
