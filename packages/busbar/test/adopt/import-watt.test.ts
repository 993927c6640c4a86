import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { applicationRules } from '../../src/adopt/sources/watt/application-rules.ts'
import { runtimeRules, serverRules } from '../../src/adopt/sources/watt/runtime-rules.ts'
import { ImportedApp, server, textAt } from './imported-app.ts'

describe('busbar import of a watt.json', () => {
  test('starts its applications behind the entry, with names, variables, needs and jobs', async () => {
    using app = await ImportedApp.from({
      'watt.json': {
        $schema: 'https://schemas.platformatic.dev/wattpm/3.67.0.json',
        server: { hostname: '127.0.0.1', port: '{PORT}' },
        entrypoint: 'front',
        autoload: { path: 'web', exclude: ['docs'], mappings: { main: { id: 'front', dependencies: ['api'] } } },
        applications: [
          {
            id: 'api',
            path: './backend',
            workers: 2,
            env: { MODE: '{MODE}', PEER: 'http://front.plt.local' },
            arguments: ['fast'],
          },
        ],
        scheduler: [{ name: 'clean', cron: '0 3 * * *', callbackUrl: 'http://api.plt.local/clean', method: 'POST' }],
        gracefulShutdown: { runtime: 9000, application: 4000 },
        logger: { level: 'info' },
        watch: false,
        nonsense: 1,
      },
      'web/main/watt.json': {
        $schema: 'https://schemas.platformatic.dev/@platformatic/node/3.67.0.json',
        node: { main: 'front.js' },
      },
      'web/main/front.js': `require('node:http').createServer(async (request, response) => {
        response.end('front ' + await (await fetch('http://api.internal/')).text())
      }).listen(3042)`,
      'web/docs/index.js': server("'docs'"),
      'backend/package.json': { scripts: { start: 'node server.js' } },
      'backend/server.js': server("[process.argv[2], process.env.MODE, process.env.PEER].join(' ')"),
    })
    assert.deepEqual(Object.keys(app.report.config.services).toSorted(), ['api', 'front'])
    assert.equal(app.target('applications[0].workers'), 'services.api.instances')
    assert.equal(app.target('entrypoint'), 'gateway.entry')
    assert.equal(app.target('scheduler'), 'schedule')
    assert.equal(app.reason('nonsense'), 'Watt has no such key')
    assert.match(app.reason('logger')!, /--log-level/)
    await using started = app.start(['--port', '0'])
    assert.equal(await textAt(await started.url()), 'front fast  http://front.internal')
  })

  test('turns the prefixes of a gateway of Platformatic into routes, and leaves plug-in folders out', async () => {
    using app = await ImportedApp.from({
      'platformatic.json': {
        $schema: 'https://schemas.platformatic.dev/@platformatic/runtime/2.61.0.json',
        entrypoint: 'gateway',
        services: [
          { id: 'gateway', path: './gateway' },
          { id: 'api', path: './api' },
          { id: 'plugins', path: './plugins' },
          { id: 'off', path: './off', enabled: false },
          { id: 'made', path: './made' },
          { id: 'built', path: './built' },
        ],
      },
      'gateway/platformatic.json': {
        $schema: 'https://schemas.platformatic.dev/@platformatic/gateway/2.61.0.json',
        gateway: {
          applications: [{ id: 'api', proxy: { prefix: '/api/' } }, { id: 'built' }, { id: 'made' }, { id: 'plugins' }],
        },
      },
      'api/index.js': server('request.url'),
      'made/index.js': "module.exports = { create: async () => (request, response) => response.end('made') }",
      'built/index.js': "module.exports = { build: () => (request, response) => response.end('built') }",
      'plugins/platformatic.json': { $schema: 'https://schemas.platformatic.dev/@platformatic/service/2.61.0.json' },
    })
    assert.deepEqual(app.report.config.gateway, { routes: { '/api': 'api', '/built': 'built', '/made': 'made' } })
    assert.deepEqual(
      app.report.leftOut.map(({ name }) => name),
      ['gateway', 'plugins', 'off'],
    )
    await using started = app.start(['--port', '0'])
    assert.equal(await textAt(`${await started.url()}/api/items`), '/items')
    assert.equal(await textAt(`${await started.url()}/built`), 'built')
    assert.equal(await textAt(`${await started.url()}/made`), 'made')
  })

  test('starts one application by its own file', async () => {
    using app = await ImportedApp.from({
      'watt.json': {
        $schema: 'https://schemas.platformatic.dev/@platformatic/node/3.67.0.json',
        node: { main: 'serve.mjs' },
        application: { commands: { build: 'node -e 0' } },
      },
      'serve.mjs':
        "import { createServer } from 'node:http'\ncreateServer((_, response) => response.end('alone')).listen(3042)",
    })
    await using started = app.start(['--port', '0'])
    assert.equal(await textAt(await started.url()), 'alone')
  })
})

/** The keys of the schema of wattpm 3.67. */
const runtimeKeys = `$schema preload extensions entrypoint basePath autoload applications services web workers workersRestartDelay logger server
  reuseTcpPorts startTimeout restartOnError exitOnUnhandledErrors gracefulShutdown health healthProbes undici httpCache watch managementApi
  management metrics telemetry verticalScaler inspectorOptions applicationTimeout startupConcurrency messagingTimeout
  resolvedApplicationsBasePath env envfile strictEnv sourceMaps nodeModulesSourceMaps scheduler policies compileCache module`
const applicationKeys = `id enabled path config url gitBranch useHttp websocket reuseTcpPorts workers health restartOnError dependencies
  arguments env envfile sourceMaps nodeModulesSourceMaps packageManager preload nodeOptions execArgv permissions telemetry compileCache
  management`
const serverKeys = 'hostname port portAssignment backlog http2 https'

test('every key of Watt is mapped, or has a reason', () => {
  const missing = (keys: string, rules: object): string[] =>
    keys.split(/\s+/).filter((key) => !Object.hasOwn(rules, key))
  assert.deepEqual(missing(runtimeKeys, runtimeRules), [])
  assert.deepEqual(missing(applicationKeys, applicationRules), [])
  assert.deepEqual(missing(serverKeys, serverRules), [])
})
