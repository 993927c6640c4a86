import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import type { GatewayConfig, TlsFiles } from '../../../src/config/app.ts'
import { appOf, type AppSetup, TestApp } from '../../support/app/test-app.ts'
import type { TestFolder } from '../../support/app/test-folder.ts'
import type { Issued } from '../../support/http/authority.ts'
import { builtAddon } from '../served.ts'

/** Both entrances have the same TLS. */
export const entrances = [
  { entrance: 'portable', skip: false },
  { entrance: 'native', skip: builtAddon === undefined ? 'the entrance is not built' : false },
] as const

/** Without the polling of files: only the events of the file system count. */
const timing = { certificates: 3_600_000 }

/** Says what it sees of its client. */
export const seen = `${import.meta.dirname}/programs/seen.mjs`

export interface SecureSetup extends Partial<AppSetup> {
  readonly entrance: NonNullable<GatewayConfig['entrance']>
  readonly tls: TlsFiles
  readonly routes?: GatewayConfig['routes']
}

export async function startSecure({ entrance, tls, routes = [], ...setup }: SecureSetup): Promise<TestApp> {
  const services: AppSetup['services'] = { seen: { file: seen, run: 'shared' } }
  const app = appOf({ services, ...setup, gateway: { entrance, tls, routes, ...setup.gateway } })
  return await TestApp.startLoaded(app, { timing })
}

/** Writes both files; the key first, so that no moment has a new certificate with an old key. */
export function writePair(folder: TestFolder, name: string, { cert, key }: Issued): { cert: string; key: string } {
  folder.write(`${name}.key`, key)
  folder.write(`${name}.cert`, cert)
  return { cert: folder.at(`${name}.cert`), key: folder.at(`${name}.key`) }
}

export async function handshake(app: TestApp, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port: app.port, host: '127.0.0.1', ALPNProtocols: ['http/1.1'], ...options })
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  return socket
}

/** The common name of the certificate that a client gets. */
export async function nameServed(app: TestApp, options: ConnectionOptions): Promise<string> {
  const socket = await handshake(app, { rejectUnauthorized: false, ...options })
  const { CN } = socket.getPeerCertificate().subject
  socket.destroy()
  return String(CN)
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Asked extends ConnectionOptions {
  readonly path?: string
  readonly method?: string
  readonly headers?: Record<string, string>
}

/** One request on a connection of its own. */
export async function ask(app: TestApp, options: Asked): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = request({ port: app.port, host: '127.0.0.1', agent: false, ...options }, (response) => {
      const { statusCode: status = 0, headers } = response
      text(response).then((body) => resolve({ status, headers, body }), reject)
    })
    sent.on('error', reject).end()
  })
}
