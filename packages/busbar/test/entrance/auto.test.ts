/** `gateway.entrance: 'auto'`: who accepts the connections of which app. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { generate } from 'selfsigned'
import type { App, GatewayConfig } from '../../src/config/app.ts'
import { BusbarError } from '../../src/contract/errors.ts'
import { startApp } from '../../src/embed/start-app.ts'
import { entranceLibrary } from '../../src/entrance/load.ts'
import type { StartOptions } from '../../src/supervisor/running-app.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { type AppSetup, appOf, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { selfSigned } from '../support/http/certificate.ts'
import { builtAddon } from './served.ts'
import { ask, writePair } from './tls/secure-apps.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }
const services: AppSetup['services'] = {
  web: { file: `${import.meta.dirname}/programs/app.mjs`, run: 'shared', env: { SERVICE: 'web' } },
}

function start(
  gateway: Partial<GatewayConfig>,
  started: Partial<StartOptions> = {},
  more: Partial<AppSetup> = {},
): Promise<TestApp> {
  const app = appOf({ services, ...more, gateway: { ...gateway, entrance: 'auto' } })
  return TestApp.startLoaded(app, started)
}

/** Of a curve that only the portable gateway has. */
async function unusualPair(): Promise<{ cert: string; key: string }> {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec', curve: 'P-521' })
  return { cert: made.cert, key: made.private }
}

const isNative = (app: TestApp): boolean => app.running.status().entrance !== null

describe("gateway.entrance: 'auto'", options, () => {
  let pair: { cert: string; key: string }
  before(async () => {
    pair = await selfSigned()
  })
  /** Of a gateway with these certificates. */
  const secure = (folder: TestFolder) => ({ entry: 'web', tls: writePair(folder, 'own', pair) })

  it('is the native entrance for TLS and for gRPC', async () => {
    using folder = new TestFolder()
    await using app = await start(secure(folder))
    assert.equal(isNative(app), true)
    assert.equal((await ask(app, { ca: pair.cert })).status, 200)
    await using calls = await start({ entry: 'web', grpc: {} as GatewayConfig['grpc'] })
    assert.equal(isNative(calls), true)
  })

  it('is the portable gateway for HTTP in clear, for workers that accept, and without a loader', async () => {
    using folder = new TestFolder()
    await using clear = await start({ entry: 'web' })
    await using accepting = await start(secure(folder), {}, { accept: 'reusePort' })
    await using unloaded = await start(secure(folder), { entrance: undefined })
    assert.deepEqual([clear, accepting, unloaded].map(isNative), [false, false, false])
  })

  it('is the portable gateway where clients have certificates, of which the native entrance refuses some', async () => {
    using folder = new TestFolder()
    const { tls, ...gateway } = secure(folder)
    await using app = await start({ ...gateway, tls: { ...tls, clientCa: tls.cert, clientCertificate: 'optional' } })
    assert.equal(isNative(app), false)
  })

  it('is the portable gateway where there is no binary, and the log says how to get it', async () => {
    using folder = new TestFolder()
    const missing = new BusbarError('ENTRANCE_UNAVAILABLE', { message: 'there is no binary', hint: 'Install it.' })
    const entrance = (): never => {
      throw missing
    }
    await using app = await start(secure(folder), { entrance })
    assert.equal((await ask(app, { ca: pair.cert })).status, 200)
    const said = app.log.find(({ line }) => line.includes('the portable gateway serves'))
    assert.deepEqual(
      [said?.level, said?.line],
      ['info', 'the portable gateway serves: there is no binary. Install it.'],
    )
  })

  it('is the portable gateway where the binary cannot be loaded, which is a warning', async () => {
    using folder = new TestFolder()
    const broken = new BusbarError('ENTRANCE_UNAVAILABLE', { message: 'it cannot be loaded', cause: new Error('ELF') })
    const entrance = (): never => {
      throw broken
    }
    await using app = await start(secure(folder), { entrance })
    assert.equal((await ask(app, { ca: pair.cert })).status, 200)
    const said = app.log.find(({ line }) => line.includes('the portable gateway serves'))
    assert.equal(said?.level, 'warn')
  })

  it('is the portable gateway where the binary is of another version', async () => {
    using folder = new TestFolder()
    const entrance = () => ({ ...entranceLibrary(), mismatch: 'it is older' })
    await using app = await start(secure(folder), { entrance })
    assert.equal((await ask(app, { ca: pair.cert })).status, 200)
    assert.ok(
      app.log.some(({ level, line }) => level === 'warn' && line.startsWith('it is older: the portable gateway')),
    )
  })

  it('is the portable gateway for a certificate that only that can use', async () => {
    using folder = new TestFolder()
    await using app = await start({ entry: 'web', tls: writePair(folder, 'own', await unusualPair()) })
    assert.equal((await ask(app, { rejectUnauthorized: false })).status, 200)
    const said = app.log.find(({ line }) => line.includes('the portable gateway serves'))
    assert.match(said?.line ?? '', /cannot use the certificates of gateway\.tls: that of localhost: .* P-384/)
  })

  it('keeps its certificate when the new one is of that kind, and the log says what to do', async () => {
    using folder = new TestFolder()
    await using app = await start(secure(folder))
    writePair(folder, 'own', await unusualPair())
    await app.untilLogged('the native entrance cannot use the certificates')
    const said = app.log.find(({ line }) => line.startsWith('the new certificate is refused'))
    assert.match(said?.line ?? '', / and P-384, .* Others need entrance: 'portable'\.$/)
    assert.equal((await ask(app, { ca: pair.cert })).status, 200)
  })

  it('is what busbar check says, also of such a certificate', async () => {
    // A packed package finds no binary where that of the entrance is not installed.
    const entry = fileURLToPath(new URL('../support/busbar.ts', import.meta.url))
    const checked = async (own: typeof pair, entrance: string): Promise<[number | null, string]> => {
      using folder = new TestFolder({ 'web/index.js': '' })
      const gateway = { port: 3999, entrance, tls: writePair(folder, 'own', own) }
      folder.write('busbar.config.json', { gateway, services: { web: './web' } })
      const { code, stdout, stderr } = await BusbarProcess.run(['check', folder.path], { entry })
      return [code, stdout.split('\n').at(-2) ?? stderr]
    }
    const other = await unusualPair()
    assert.match((await checked(pair, 'auto')).join(' '), /^0 entrance native \(/)
    assert.match((await checked(other, 'auto')).join(' '), /^0 warning: .* cannot use .*: the portable gateway serves$/)
    assert.match((await checked(other, 'native')).join(' '), /^3 /)
  })

  it('needs a restart for gRPC and for the limits that the entrance has', async () => {
    using folder = new TestFolder()
    await using app = await start(secure(folder))
    const { gateway, limits } = app.running.app
    const changed: readonly [string, Partial<App>][] = [
      ['gateway.grpc', { gateway: { ...gateway, grpc: { reflection: true } } }],
      ['limits.headerTimeout', { limits: { ...limits, headerTimeout: 1000 } }],
      ['limits.requestTimeout', { limits: { ...limits, requestTimeout: 0 } }],
      ['limits.keepAliveTimeout', { limits: { ...limits, keepAliveTimeout: 1000 } }],
      ['limits.maxHeaderSize', { limits: { ...limits, maxHeaderSize: 65_536 } }],
    ]
    for (const [name, change] of changed)
      await assert.rejects(app.running.replace({ ...app.running.app, ...change }), {
        code: 'RESTART_NEEDED',
        message: `only a restart of the whole app can change ${name}`,
      })
    // The entrance's limit has room for this one.
    await app.running.replace({ ...app.running.app, limits: { ...limits, maxHeaderSize: 32_768 } })
  })

  it('needs a restart when the portable gateway serves and the first gRPC service comes', async () => {
    await using app = await start({ entry: 'web' })
    const { gateway } = app.running.app
    const next = { ...app.running.app, gateway: { ...gateway, grpc: { reflection: true } } }
    await assert.rejects(app.running.replace(next), {
      code: 'RESTART_NEEDED',
      message: 'only a restart of the whole app can change gateway.grpc',
    })
    assert.equal(isNative(app), false)
    assert.equal(app.running.app.gateway.grpc, undefined)
    assert.equal((await fetch(`http://127.0.0.1:${app.port}/`)).status, 200)
    assert.equal((await app.running.replace()).generation, 2)
  })

  it('is opened for gRPC by a reload of startApp, which restarts the app', async () => {
    const program = `require('node:http').createServer((_, response) => response.end('served')).listen(3000)`
    const config = (grpc: boolean) => ({ gateway: { port: 0, entry: 'web', grpc }, services: { web: './web' } })
    using folder = new TestFolder({ 'busbar.config.json': config(false), 'web/index.js': program })
    await using app = await startApp(folder.path)
    assert.equal(app.status().entrance, null)
    folder.write('busbar.config.json', config(true))
    await app.reload()
    assert.notEqual(app.status().entrance, null)
    assert.equal(await (await app.fetch('web', '/')).text(), 'served')
  })

  it('needs none for gRPC where a restart would not bring the native entrance either', async () => {
    const entrance = (): never => {
      throw new BusbarError('ENTRANCE_UNAVAILABLE', { message: 'there is no binary' })
    }
    const mismatch = 'the binary is of another version'
    for (const find of [entrance, () => ({ ...entranceLibrary(), mismatch })]) {
      await using app = await start({ entry: 'web' }, { entrance: find })
      const { gateway } = app.running.app
      const next = { ...app.running.app, gateway: { ...gateway, grpc: { reflection: true } } }
      assert.equal((await app.running.replace(next)).generation, 2)
    }
  })

  it('lets a reload change them at the portable gateway', async () => {
    using folder = new TestFolder()
    await using app = await start(secure(folder), { entrance: undefined })
    const { limits, gateway } = app.running.app
    const next = { limits: { ...limits, headerTimeout: 1000 }, gateway: { ...gateway, grpc: { reflection: true } } }
    assert.equal((await app.running.replace({ ...app.running.app, ...next })).generation, 2)
  })
})
