/**
 * Serves an unmodified program through the entrance:
 * `node --conditions=busbar-source scripts/entrance/serve.ts <program> [--bridge duplex|exchange] [--workers 1] [--threads 1] [--port 0] [--tls] [--addon <file>]`
 * `--tls`: on a second port, with a certificate that it makes.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { loadEntrance } from '../../packages/busbar/src/entrance/load.ts'
import { selfSigned } from '../../packages/busbar/test/support/http/certificate.ts'
import type { HostData } from './host.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    bridge: { type: 'string', default: 'duplex' },
    workers: { type: 'string', default: '1' },
    threads: { type: 'string', default: '1' },
    port: { type: 'string', default: '0' },
    tls: { type: 'boolean', default: false },
    addon: { type: 'string' },
  },
})
const program = resolve(positionals[0] ?? `${import.meta.dirname}/programs/fastify.mjs`)
const addon = resolve(values.addon ?? builtAddon())
const native = new (loadEntrance(addon).NativeEntrance)({ threads: Number(values.threads) })
const workers = new Set<Worker>()
const folder = mkdtempSync(join(tmpdir(), 'busbar-entrance-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit())

for (let n = 0; n < Number(values.workers); n++) await start()
const { address, port } = native.listen('127.0.0.1', Number(values.port))
console.log(JSON.stringify({ address, port, ...(values.tls && { secure: await listenSecurely() }) }))

/** Orders for tests, a line each. */
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  for (const line of text.split('\n').filter(Boolean)) void obey(line)
})

async function obey(order: string): Promise<void> {
  const [first] = workers
  if (order === 'stats') console.log(JSON.stringify(native.stats()))
  else if (order === 'start') await start()
  else if (order === 'terminate') await first?.terminate()
  else if (order === 'stop') stop()
  else first?.postMessage(order)
}

async function listenSecurely(): Promise<number> {
  native.setCertificates([{ ...(await selfSigned()), names: [] }], {})
  return native.listen('127.0.0.1', 0, true).port
}

async function start(): Promise<void> {
  const bridge = values.bridge as HostData['bridge']
  const workerData: HostData = { addon, entrance: native.id, program, bridge, folder }
  const worker = new Worker(new URL('host.ts', import.meta.url), { workerData })
  workers.add(worker)
  worker.once('exit', () => workers.delete(worker))
  await new Promise((done) => worker.once('message', done))
}

function stop(): void {
  native.unlisten()
  native.drain(0)
  const look = setInterval(() => {
    if (native.open > 0) return
    clearInterval(look)
    process.exit()
  }, 20)
}

function builtAddon(): string {
  const name = { darwin: 'libbusbar_entrance.dylib', win32: 'busbar_entrance.dll' }[process.platform as string]
  for (const profile of ['release', 'debug']) {
    const file = `${import.meta.dirname}/../../target/${profile}/${name ?? 'libbusbar_entrance.so'}`
    if (existsSync(file)) return file
  }
  throw new Error('build the add-on first: cargo build --release -p busbar-entrance')
}
