import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { App } from '../../../src/config/app.ts'
import { entranceLibrary } from '../../../src/entrance/load.ts'
import type { Gateway } from '../../../src/gateway/gateway.ts'
import type { TlsMaterial } from '../../../src/shared/control-messages.ts'
import type { StopTimes } from '../../../src/shared/time/stop-times.ts'
import type { NativeEntrance } from '../../../src/shared/entrance/entrance.ts'
import { entranceLimits } from '../../../src/supervisor/accept/gateway-entrance.ts'
import { EntranceRegistration } from '../../../src/worker/entrance-registration.ts'

/** What accepts the connections of a gateway in a test. */
export interface Front {
  readonly port: number
  /** Open connections of clients. */
  readonly connections: number
  listen(): Promise<void>
  setTls(tls: TlsMaterial): void
  stop(times: StopTimes): Promise<void>
  close(): void
}

export class PortableFront implements Front {
  readonly #gateway: Gateway
  readonly #server

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => gateway.accept(socket))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get connections(): number {
    return this.#gateway.connections
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
  }

  setTls(tls: TlsMaterial): void {
    this.#gateway.setTls(tls)
  }

  stop(times: StopTimes): Promise<void> {
    return this.#gateway.stop(times)
  }

  close(): void {
    this.#server.close()
  }
}

/** The native entrance, with the thread of the test as its only worker. */
export class NativeFront implements Front {
  port = 0
  readonly #gateway: Gateway
  readonly #native: NativeEntrance
  readonly #member: EntranceRegistration
  readonly #isSecure: boolean

  constructor(gateway: Gateway, app: App, tls: TlsMaterial | undefined) {
    const library = entranceLibrary()
    this.#gateway = gateway
    this.#native = library.open(entranceLimits(app, { backlog: 10_000 }))
    this.#isSecure = tls !== undefined
    if (tls !== undefined) this.setTls(tls)
    const access = { file: library.file, id: this.#native.id }
    this.#member = EntranceRegistration.join(access, {
      accept: (socket) => gateway.acceptVirtual(socket),
      serveCall: gateway.serveCall,
      serveRequest: gateway.serveRequest,
    })
  }

  get connections(): number {
    return this.#native.open
  }

  async listen(): Promise<void> {
    this.port = this.#native.listen('127.0.0.1', 0, this.#isSecure).port
  }

  setTls({ pairs, clientCa, minVersion }: TlsMaterial): void {
    const onlyTls13 = minVersion === 'TLSv1.3'
    this.#native.setCertificates(pairs, { onlyTls13, ...(clientCa !== undefined && { clientCa }) })
  }

  /** As when the whole app stops. */
  async stop(times: StopTimes): Promise<void> {
    this.#native.unlisten()
    this.#native.drain(times.quiet)
    await Promise.all([this.#gateway.stop(times), this.#member.outlast(times)])
  }

  close(): void {
    this.#member.close()
    this.#native.close()
  }
}
