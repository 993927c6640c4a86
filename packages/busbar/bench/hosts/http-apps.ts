/** Two apps with unmodified programs, one of which calls the other one by its name over TLS. */
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApp } from '../../src/embed/start-app.ts'
import type { Identity } from '../../src/shared/hosts.ts'

const programs = new URL('programs/', import.meta.url).pathname

/** An app in this process, in a folder that ends with it. */
interface RunningApp extends AsyncDisposable {
  readonly url: string
}

/** The app that has the program `stock`. */
export async function startFarApp(port: number, identity: Identity): Promise<RunningApp> {
  const services = { stock: `${programs}stock.js` }
  return await start(
    { services, gateway: { port: 0, entry: 'stock' }, export: { tls: `127.0.0.1:${port}`, services: ['stock'] } },
    identity,
  )
}

/** The app whose program `caller` calls `http://stock.internal`. */
export async function startNearApp(port: number, identity: Identity): Promise<RunningApp> {
  const services = { caller: `${programs}caller.js`, stock: { remote: `tls://127.0.0.1:${port}` } }
  return await start({ services, gateway: { port: 0, entry: 'caller' } }, identity)
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

async function start(config: object, { cert, key, ca }: Identity): Promise<RunningApp> {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-bench-hosts-'))
  await mkdir(join(folder, 'certs'))
  for (const [name, text] of Object.entries({ 'app.pem': cert, 'app-key.pem': key, 'ca.pem': ca }))
    await writeFile(join(folder, 'certs', name), text)
  await writeFile(join(folder, 'busbar.config.json'), JSON.stringify(config))
  const app = await startApp(folder, { log: () => {} })
  return {
    url: app.url,
    async [Symbol.asyncDispose]() {
      await app.stop()
      await rm(folder, { recursive: true })
    },
  }
}
