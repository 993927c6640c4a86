/** `startApp` with an app in a folder: what the handle does, and what it does not affect. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { EmbeddedApp } from '../../src/embed/embedded-app.ts'
import { startApp } from '../../src/embed/start-app.ts'
import { fn, service, stream, type } from '../../src/contract/index.ts'
import { folderWithBusbar, type TestFolder } from '../support/app/test-folder.ts'

const stock = service('stock', {
  count: fn({ input: type<string>(), output: type<{ item: string; at: Date }>() }),
  items: stream({ output: type<number>() }),
})

describe('startApp', () => {
  let folder: TestFolder
  let app: EmbeddedApp

  before(async () => {
    folder = folderWithBusbar({
      'package.json': { type: 'module' },
      'busbar.config.ts': `
      import { defineApp } from 'busbar'
      export default defineApp({
        gateway: { port: 1, entry: 'web' },
        services: { web: './web', hidden: { path: './hidden', run: 'process' }, stock: './stock' },
      })`,
      'web/index.js': `
      import { createServer } from 'node:http'
      import { gzipSync } from 'node:zlib'
      console.log('web says hello')
      createServer(async (request, response) => {
        if (request.url === '/version') return response.end('one')
        if (request.url === '/gzip') return response.setHeader('content-encoding', 'gzip').end(gzipSync('small'))
        if (request.url === '/away') return response.writeHead(302, { location: 'http://hidden.internal/there' }).end()
        if (request.url === '/again') return response.writeHead(307, { location: '/' }).end()
        if (request.url === '/never') return
        const chunks = await request.toArray()
        const { method, headers: { host, 'x-mine': mine } } = request
        response.setHeader('set-cookie', ['a=1', 'b=2'])
        response.end(JSON.stringify({ method, host, mine, body: Buffer.concat(chunks).toString() }))
      }).listen(3000)`,
      'hidden/index.js': `
      import { createServer } from 'node:http'
      createServer((request, response) => response.end('hidden at ' + request.url)).listen(3000)`,
      'stock/contract.js': `
      import { fn, service, stream, type } from 'busbar/contract'
      export default service('stock', { count: fn({ input: type(), output: type() }), items: stream({ output: type() }) })`,
      'stock/index.js': `
      import stock from './contract.js'
      export default stock.implement({
        count: async (item) => ({ item, at: new Date(5) }),
        async *items() { yield* [1, 2, 3] },
      })`,
    })
    app = await startApp(folder.path, { port: 0 })
  })

  after(async () => {
    await app.stop()
    folder[Symbol.dispose]()
  })

  test('url is the URL of the gateway', async () => {
    assert.match(app.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.notEqual(new URL(app.url).port, '1')
    assert.equal(await (await fetch(`${app.url}/version`)).text(), 'one')
  })

  test('fetch reaches a service that has no route, by its name', async () => {
    const answer = await app.fetch('hidden', '/x?y=1')
    assert.deepEqual(
      [answer.status, await answer.text(), answer.url],
      [200, 'hidden at /x?y=1', 'http://hidden.internal/x?y=1'],
    )
  })

  test('fetch sends methods, headers and bodies, and returns cookies and decompressed bodies', async () => {
    const init = { method: 'POST', headers: { 'x-mine': 'yes' }, body: 'text' }
    const answer = await app.fetch('web', '/', init)
    assert.deepEqual(await answer.json(), { method: 'POST', host: 'web.internal', mine: 'yes', body: 'text' })
    assert.deepEqual(answer.headers.getSetCookie(), ['a=1', 'b=2'])
    const body = new Blob(['in ', 'pieces']).stream()
    const streamed = await app.fetch('web', '/', { method: 'PUT', body, duplex: 'half' })
    assert.equal(((await streamed.json()) as { body: string }).body, 'in pieces')
    assert.equal(await (await app.fetch('web', '/gzip')).text(), 'small')
    assert.equal(await (await app.fetch('web', '/', { method: 'HEAD' })).text(), '')
  })

  test('fetch follows redirects, to other services and with a body', async () => {
    const away = await app.fetch('web', '/away')
    assert.deepEqual(
      [await away.text(), away.redirected, away.url],
      ['hidden at /there', true, 'http://hidden.internal/there'],
    )
    const again = await app.fetch('web', '/again', { method: 'POST', body: 'kept' })
    assert.equal(((await again.json()) as { body: string }).body, 'kept')
    assert.equal((await app.fetch('web', '/away', { redirect: 'manual' })).status, 302)
    await assert.rejects(app.fetch('web', '/away', { redirect: 'error' }), { code: 'SERVICE_HANGUP' })
  })

  test('fetch rejects when its signal aborts', async () => {
    await assert.rejects(app.fetch('web', '/never', { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' })
  })

  test('fetch rejects an unknown service with the nearest name, and a path without a slash', async () => {
    await assert.rejects(app.fetch('wep', '/'), {
      code: 'SERVICE_UNKNOWN',
      message: /there is no service "wep"; the nearest are web/,
    })
    await assert.rejects(app.fetch('web', 'version'), { code: 'REQUEST_MALFORMED', message: /"version"/ })
  })

  test('client calls methods and streams of a typed service', async () => {
    const client = app.client(stock)
    const count: { item: string; at: Date } = await client.count('nail')
    assert.deepEqual(count, { item: 'nail', at: new Date(5) })
    assert.deepEqual(await readAll(client.items()), [1, 2, 3])
    // @ts-expect-error: the contract has no such method
    assert.equal(client.counts, undefined)
    for (const contract of [undefined, null, {}, 'stock'])
      assert.throws(() => app.client(contract as never), { code: 'CONTRACT_INVALID' })
    assert.throws(() => app.client(service('stok', {})), { code: 'SERVICE_UNKNOWN', message: /nearest are stock/ })
  })

  test('status shows the services, as busbar ps does', () => {
    const { app: own, services } = app.status()
    assert.equal(own.ready, true)
    assert.deepEqual(services.map((one) => one.service).toSorted(), ['hidden', 'stock', 'web'])
  })

  test('startApp adds no signal handlers, does not change the folder and writes nothing', async () => {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
    const counts = (): number[] => signals.map((signal) => process.listenerCount(signal))
    const before = counts()
    const write = process.stdout.write.bind(process.stdout)
    const written: unknown[] = []
    // The test runner writes its reports as bytes.
    process.stdout.write = (chunk: string | Uint8Array, ...rest: never[]) =>
      typeof chunk === 'string' ? written.push(chunk) > 0 : write(chunk, ...rest)
    try {
      await using alone = await startApp(folder.at('web'), { port: 0 })
      assert.equal(await (await fetch(`${alone.url}/version`)).text(), 'one')
      assert.deepEqual([counts(), written, process.cwd()], [before, [], process.cwd()])
    } finally {
      process.stdout.write = write
    }
  })

  test('several apps run in one process', async () => {
    await using other = await startApp(new URL(`file://${folder.path}`), { port: 0, run: 'thread', workers: 1 })
    assert.notEqual(other.url, app.url)
    const answers = [app, other].map(async (one) => await (await one.fetch('hidden', '/a')).text())
    assert.deepEqual(await Promise.all(answers), ['hidden at /a', 'hidden at /a'])
  })

  test('reload serves the changed files at the same URL', async () => {
    using copy = folderWithBusbar({ 'index.mjs': programSaying('one') })
    await using one = await startApp(copy.path, { port: 0 })
    const { url } = one
    copy.write('index.mjs', programSaying('two'))
    await one.reload()
    assert.deepEqual([one.url, await (await fetch(url)).text()], [url, 'two'])
    copy.write('index.mjs', 'throw new Error("a mistake")')
    await assert.rejects(one.reload(), { code: 'PROGRAM_THREW', message: /a mistake/ })
    assert.equal(await (await fetch(url)).text(), 'two')
  })

  test('reload with other services restarts the app', async () => {
    using copy = folderWithBusbar({
      'busbar.config.json': { gateway: { port: 0 }, services: { a: './a.mjs' } },
      'a.mjs': programSaying('a'),
      'b.mjs': programSaying('b'),
    })
    await using one = await startApp(copy.path)
    copy.write('busbar.config.json', { gateway: { port: 0 }, services: { a: './a.mjs', b: './b.mjs' } })
    await one.reload()
    assert.equal(await (await one.fetch('b', '/')).text(), 'b')
    assert.equal(await (await fetch(`${one.url}/b`)).text(), 'b')
  })

  test('a stopped app fails with APP_NOT_RUNNING', async () => {
    const one = await startApp(folder.at('web'), { port: 0 })
    const client = one.client(service('web', { x: fn({ output: type<string>() }) }))
    await Promise.all([one.stop(), one.stop()])
    assert.deepEqual(await one.ended, { why: 'stopped' })
    await assert.rejects(one.fetch('web', '/'), { code: 'APP_NOT_RUNNING' })
    await assert.rejects(client.x(), { code: 'APP_NOT_RUNNING' })
    await assert.rejects(one.reload(), { code: 'APP_NOT_RUNNING' })
    assert.throws(() => one.status(), { code: 'APP_NOT_RUNNING' })
  })

  test('a start that fails rejects with its BusbarError and leaves nothing running', async () => {
    using broken = folderWithBusbar({ 'index.mjs': 'throw new Error("a mistake")' })
    await assert.rejects(startApp(broken.path, { port: 0 }), { name: 'BusbarError', code: 'PROGRAM_THREW' })
    await assert.rejects(startApp(broken.at('nowhere')), { code: 'CONFIG_NOT_FOUND' })
    await assert.rejects(startApp(folder.path, { port: Number(new URL(app.url).port) }), { code: 'PORT_IN_USE' })
  })

  test('ended resolves with the error of an app that gave up, and the process goes on', async () => {
    using fragile = folderWithBusbar({
      'busbar.config.json': { maxRestarts: 0, gateway: { port: 0 }, services: { one: './index.mjs' } },
      'index.mjs': `
      import { createServer } from 'node:http'
      createServer(() => setImmediate(() => { throw new Error('on purpose') })).listen(3000)`,
    })
    await using one = await startApp(fragile.path)
    await one.fetch('one', '/').catch(() => {})
    const reason = await one.ended
    assert.equal(reason.why === 'failed' && reason.error.code, 'WORKER_RESTART_LIMIT')
  })

  test('invalid options are all reported, with the nearest name', async () => {
    const start = (options: object): Promise<unknown> => startApp(folder.path, options)
    await assert.rejects(start({ prot: 0 }), {
      code: 'CONFIG_KEY_UNKNOWN',
      message: /prot is not an option; the nearest is port/,
    })
    await assert.rejects(start({ port: '80', log: 7 }), {
      message: /port is '80'; allowed is a port[^]*log is 7; allowed is/,
    })
    await assert.rejects(start({ replace: { web: 'x' } }), {
      message: /replace\.web is 'x'; allowed is a request handler/,
    })
    await assert.rejects(startApp(7 as never), {
      code: 'CONFIG_INVALID',
      message: /the first argument of startApp is 7/,
    })
    await assert.rejects(startApp(folder.path, 7 as never), {
      message: /the second argument is 7; allowed is an object/,
    })
  })
})

async function readAll<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
}

function programSaying(text: string): string {
  return `
    import { createServer } from 'node:http'
    createServer((_, response) => response.end('${text}')).listen(3000)`
}
