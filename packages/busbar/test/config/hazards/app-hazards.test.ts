import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Files } from '../../support/app/test-folder.ts'
import { hazardsOf, other } from './support.ts'

describe('busbar check', () => {
  it('no relative path in an app of one service', async () => {
    const native = "require('better-sqlite3')\nnew Database('a.db')"
    assert.deepEqual(await hazardsOf({ 'web/index.js': native }), [])
  })

  it('no restify in a thread of its own, nor in a process', async () => {
    const files: Files = { ...other, 'web/index.js': 'require("restify")' }
    for (const run of ['thread', 'process']) assert.deepEqual(await hazardsOf(files, { defaults: { run } }), [])
    const grouped = { web: { path: './web', group: 'a' }, other: { path: './other', group: 'a' } }
    assert.deepEqual(
      (await hazardsOf(files, { services: grouped })).map(({ code }) => code),
      ['HTTP_PATCHED'],
    )
  })

  it('FLAG_REFUSED: of a process, by its config and its variables', async () => {
    const web = (more: object): object => ({ services: { web: { path: './web', run: 'process', ...more } } })
    for (const [more, says] of [
      [{ nodeOptions: ['--no-such-flag'] }, /services\.web\.nodeOptions: bad option: --no-such-flag/],
      [{ env: { NODE_OPTIONS: '--expose-internals' } }, /NODE_OPTIONS: --expose-internals is not allowed/],
    ] as const) {
      const [hazard] = await hazardsOf({ 'web/index.js': '' }, web(more))
      assert.equal(hazard?.code, 'FLAG_REFUSED')
      assert.match(hazard.message, says)
    }
    assert.deepEqual(await hazardsOf({ 'web/index.js': '' }, web({ nodeOptions: ['--expose-gc', 'ran.js'] })), [])
  })

  it('COMMAND_NOT_FOUND: an unknown command, and a file that is not executable', async () => {
    const command = async (command: string, more: object = {}, files: Files = {}): Promise<string[]> =>
      (await hazardsOf({ 'web/readme': '', ...files }, { services: { web: { path: './web', command, ...more } } })).map(
        ({ code, message, hint }) => `${code} ${message} ${hint}`,
      )
    assert.match(
      (await command('no-such-command --port $PORT')).join(),
      /^COMMAND_NOT_FOUND services\.web\.command: no-such-command is neither/,
    )
    assert.match((await command('./run.sh', {}, { 'web/run.sh': '' })).join(), /web\/run\.sh is not an executable file/)
    assert.match((await command('node x.js', { env: { PATH: '/nowhere' } })).join(), /COMMAND_NOT_FOUND/)
    assert.deepEqual(await command('node x.js'), [])
    assert.deepEqual(await command(JSON.stringify(process.execPath)), [])
  })

  it('ROUTE_HOST: a path without a slash', async () => {
    const routes = {
      shop: 'web',
      'shop/api': 'web',
      '/cart': 'web',
      localhost: 'web',
      '::1': 'web',
      'a.example': 'web',
    }
    const hazards = await hazardsOf({ 'web/index.js': '' }, { gateway: { routes } })
    assert.deepEqual(
      hazards.map(({ code, services }) => [code, services]),
      [
        ['ROUTE_HOST', ['web']],
        ['ROUTE_HOST', ['web']],
      ],
    )
    assert.match(hazards[0]!.message, /gateway\.routes\["shop"\]/)
    assert.match(hazards[1]!.hint, /"\/shop\/api"/)
  })

  it('EXPORT_UNENCRYPTED, CLUSTER_UNENCRYPTED: links to other apps without TLS', async () => {
    const files = { 'web/index.js': '' }
    const codes = async (config: object): Promise<string[]> => (await hazardsOf(files, config)).map(({ code }) => code)
    assert.deepEqual(await codes({ export: { tcp: ':7001', services: ['web'] } }), ['EXPORT_UNENCRYPTED'])
    const cluster = { name: 'shop', nats: ['nats://10.0.0.1', 'nats://127.0.0.1'] }
    assert.deepEqual(await codes({ cluster }), ['CLUSTER_UNENCRYPTED'])
    assert.deepEqual(await codes({ cluster: { ...cluster, nats: 'tls://10.0.0.1' } }), [])
    assert.deepEqual(await codes({ cluster: { ...cluster, nats: 'nats://localhost' } }), [])
  })

  it('ROUTE_UNREACHABLE: hosts and paths that no client sends', async () => {
    const never: Readonly<Record<string, RegExp>> = {
      '/caf\u00e9': /Write "\/caf%C3%A9"/,
      '/a/%2e%2E/b': /dot segment/,
      '[::0:1]': /Write "\[::1\]"/,
      '127.1': /Write "127\.0\.0\.1"/,
      '10.0.0.300': /not an address/,
      [`${'a'.repeat(64)}.example`]: /that long/,
    }
    const fine = ['/caf%C3%A9', '/a.b/~c', 'a_b.example', '127.0.0.1/x', '[::1]', 'xn--bcher-kva.example', '1.example']
    for (const [key, says] of Object.entries(never)) {
      const [hazard, ...more] = await hazardsOf({ 'web/index.js': '' }, { gateway: { routes: { [key]: 'web' } } })
      assert.deepEqual([hazard?.code, more], ['ROUTE_UNREACHABLE', []], key)
      assert.match(`${hazard?.message} ${hazard?.hint}`, says)
    }
    const routes = Object.fromEntries(fine.map((key) => [key, 'web']))
    assert.deepEqual(await hazardsOf({ 'web/index.js': '' }, { gateway: { routes } }), [])
  })

  it('METRICS_SHARED: only services with the same prom-client', async () => {
    const prom = { 'prom-client/package.json': { main: 'x.js' }, 'prom-client/x.js': '' }
    const shared = Object.fromEntries(Object.entries(prom).map(([name, content]) => [`node_modules/${name}`, content]))
    const own = Object.fromEntries(Object.entries(prom).map(([name, content]) => [`c/node_modules/${name}`, content]))
    const hazards = await hazardsOf({
      ...shared,
      ...own,
      'node_modules/fastify-metrics/index.js': '',
      'a/index.js': 'const client = require("prom-client")',
      'b/index.js': '',
      'b/package.json': { dependencies: { 'fastify-metrics': '1' } },
      'c/index.mjs': "import client from 'prom-client'",
      'd/index.js': '',
    })
    assert.deepEqual(
      hazards.map(({ code, services }) => [code, services]),
      [['METRICS_SHARED', ['a', 'b']]],
    )
  })

  it('METRICS_PER_WORKER: several instances with prom-client', async () => {
    const files: Files = { 'node_modules/prom-client/index.js': '', 'a/index.js': 'require("prom-client")' }
    assert.deepEqual(
      (await hazardsOf(files, { workers: 2 })).map(({ code, services }) => [code, services]),
      [['METRICS_PER_WORKER', ['a']]],
    )
    assert.deepEqual(await hazardsOf(files), [])
  })

  it('an import cycle only once', async () => {
    const hazards = await hazardsOf({
      'web/index.js': 'require("./a.js")',
      'web/a.js': 'require("./index.js")\nrequire("cluster")',
    })
    assert.deepEqual(
      hazards.map(({ message }) => message.match(/a\.js:\d+/g)),
      [['a.js:2']],
    )
  })
})
