import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer, type RequestListener, type Server } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TypedHost } from '../../../src/contract/host/typed-host.ts'
import type { HttpHandler } from '../../../src/contract/http/http-handler.ts'
import type { EndpointState, LocalEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import { runInScope, type Scope } from '../../../src/mesh/scope.ts'
import { PrivateListener } from '../../../src/mesh/sockets/instance/private-listener.ts'

/** A typed service, and what serves it over HTTP. */
export interface TypedProgram {
  readonly listener: RequestListener
  readonly handler?: HttpHandler
  readonly typed: TypedHost
}

const address: AddressInfo = { address: '127.0.0.1', family: 'IPv4', port: 3000 }

/** The program's own context, without anything of the test. */
const inProgramContext = AsyncLocalStorage.snapshot()

const folder = mkdtempSync(join(tmpdir(), 'busbar-test-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let sockets = 0

function listenPrivately(server: Server): PrivateListener {
  const path = join(folder, String(sockets++))
  const listener = new PrivateListener(server, { path, address })
  server.listen({ path, backlog: 4096 })
  return listener
}

/** An instance without a host: the test's own server on a private socket. */
export class TestEndpoint implements LocalEndpoint, AsyncDisposable {
  readonly at = 'here'
  readonly service: string
  readonly server: Server
  readonly typed?: TypedHost
  readonly requestListener?: RequestListener
  readonly httpHandler?: HttpHandler
  readonly listener: PrivateListener
  state: EndpointState = 'serving'
  readonly #snapshot: <R>(run: () => R) => R
  readonly #sockets = new Set<Socket>()

  constructor(service: string, program: Server | RequestListener | TypedProgram) {
    this.service = service
    if ('typed' in program) {
      this.typed = program.typed
      this.requestListener = program.listener
      if (program.handler !== undefined) this.httpHandler = program.handler
      this.server = createServer(program.listener)
    } else this.server = typeof program === 'function' ? createServer(program) : program
    this.#snapshot = inProgramContext
    for (const event of ['connection', 'secureConnection'])
      this.server.on(event, (socket: Socket) => this.#track(socket))
    this.listener = listenPrivately(this.server)
  }

  enter<R>(scope: Scope, callback: () => R): R {
    return this.#snapshot(() => runInScope(scope, callback))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.state = 'stopped'
    if (!this.server.listening) return
    const closed = new Promise((resolve) => this.server.once('close', resolve))
    this.server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  /** Also closes upgraded connections, which a server does not. */
  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
