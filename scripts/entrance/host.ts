/**
 * A worker thread that runs an unmodified program behind the entrance. Its `listen()` opens a
 * private socket, so that the server counts, times out and closes as ever; the entrance's requests
 * come beside that.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Server as HttpServer } from 'node:http'
import { Server } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import type { LocalEndpoint } from '../../packages/busbar/src/mesh/routing/endpoint.ts'
import type { Exchanges } from '../../packages/busbar/src/mesh/mesh-context.ts'
import { DuplexBridge } from '../../packages/busbar/src/entrance/duplex-bridge.ts'
import { EntranceWorker } from '../../packages/busbar/src/entrance/entrance-worker.ts'
import { ExchangeBridge } from './exchange-bridge.ts'
import { loadEntrance } from '../../packages/busbar/src/entrance/load.ts'

export interface HostData {
  readonly addon: string
  readonly entrance: number
  readonly program: string
  readonly bridge: 'duplex' | 'exchange'
  /** The folder of the private socket. The starter of the thread removes it. */
  readonly folder: string
}

const { addon, entrance, program, bridge, folder } = workerData as HostData
const server = await serverOf(program)
const exchanges = bridge === 'exchange' ? await exchange() : undefined
const worker = new EntranceWorker(loadEntrance(addon), entrance, exchanges !== undefined, (replies) =>
  exchanges === undefined
    ? new DuplexBridge((socket) => server.emit('connection', socket), replies)
    : new ExchangeBridge(exchanges, endpointOf(server), replies),
)
parentPort!.on('message', (order: string) => {
  if (order === 'drain') worker.drain()
  else if (order === 'close') worker.close()
  else if (order === 'loop') for (;;);
})
parentPort!.postMessage('ready')

/** The first HTTP server on which the program listens. */
async function serverOf(file: string): Promise<HttpServer> {
  const found = Promise.withResolvers<HttpServer>()
  // The method is called with the server as `this` below.
  // oxlint-disable-next-line typescript/unbound-method
  const { listen } = Server.prototype
  Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
    if (!(this instanceof HttpServer)) return Reflect.apply(listen, this, args) as Server
    const callback = args.find((arg) => typeof arg === 'function') as (() => void) | undefined
    found.resolve(this)
    return Reflect.apply(listen, this, [{ path: privatePath() }, callback])
  }
  await import(pathToFileURL(file).href)
  const server = await found.promise
  if (!server.listening) await once(server, 'listening')
  return server
}

function privatePath(): string {
  return join(folder, randomUUID())
}

async function exchange(): Promise<Exchanges> {
  const { attachment, probe } = await import('../../packages/busbar/src/accelerators/exchange/index.ts')
  const fault = await probe()
  if (fault !== undefined) throw new Error('the exchange cannot be used here', { cause: fault })
  return attachment
}

function endpointOf(server: HttpServer): LocalEndpoint {
  return { at: 'here', service: 'program', server, state: 'serving', enter: (_scope, callback) => callback() }
}
