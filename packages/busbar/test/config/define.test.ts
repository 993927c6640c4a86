import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { App } from '../../src/config/app.ts'
import { allKeys } from '../../src/config/schema/json-schema.ts'
import { loadApp } from '../../src/config/load.ts'
import { type AppConfig, defineApp } from '../../src/index.ts'
import { TestFolder } from '../support/folder.ts'

describe('defineApp', () => {
  it('returns what it is given', () => {
    const config = { services: { web: './web' } }
    assert.equal(defineApp(config), config)
    const later = async (): Promise<AppConfig> => config
    assert.equal(defineApp(later), later)
  })

  it('has types for what a config may say, and for nothing else', () => {
    const port: string = '3000'
    const accepted = [
      defineApp({
        workers: 'auto',
        gateway: { port: '${PORT:-3000}' },
        limits: { maxBodySize: '10mb', headerTimeout: '5s' },
      }),
      defineApp({ services: { web: { path: './web', run: 'shared', expose: { port: 1 }, env: { A: 1, B: true } } } }),
      defineApp(({ env, root }) => ({ services: { [env['NAME'] ?? 'web']: root } })),
      defineApp(async () => ({ services: {} })),
      // @ts-expect-error: a key that there is not
      defineApp({ worker: 1 }),
      // @ts-expect-error: a word that is none of those allowed
      defineApp({ accept: 'fair' }),
      // @ts-expect-error: a unit that is none
      defineApp({ stopTimeout: '5x' }),
      // @ts-expect-error: any text for a number
      defineApp({ gateway: { port } }),
      defineApp({ services: { web: { path: './web', run: 'thread', instances: 'cpus-1', memory: '64mb' } } }),
      // @ts-expect-error: a placement that there is not
      defineApp({ services: { web: { path: './web', run: 'cluster' } } }),
      // @ts-expect-error: a function that returns no config
      defineApp(() => 1),
    ]
    assert.equal(accepted.length, 11)
  })
})

/** A value other than the default for every key, and where it shows in the app. */
const everyKey: Readonly<Record<string, readonly [value: unknown, read: (app: App) => unknown, expected?: unknown]>> = {
  $schema: ['x', () => 'x'],
  workers: [2, (app) => app.workers],
  accelerators: [['stream'], (app) => app.accelerators],
  accept: ['reusePort', (app) => app.accept],
  stopTimeout: [1000, (app) => app.stopTimeout],
  maxRestarts: [3, (app) => app.maxRestarts],
  'gateway.host': ['::1', (app) => app.gateway.host],
  'gateway.port': [1, (app) => app.gateway.port],
  'gateway.batchWrites': [true, (app) => app.accelerators?.includes('batch-writes')],
  'gateway.entry': ['web', (app) => app.gateway.entry],
  'gateway.routes': [{ '/x': 'web' }, (app) => app.gateway.routes, [{ host: undefined, prefix: '/x', service: 'web' }]],
  'gateway.routes.<name>': [
    { service: 'web' },
    (app) => app.gateway.routes,
    [{ host: undefined, prefix: '/x', service: 'web' }],
  ],
  'gateway.routes.<name>.service': [
    'stock',
    (app) => app.gateway.routes,
    [{ host: undefined, prefix: '/x', service: 'stock' }],
  ],
  'gateway.routes.<name>.strip': [
    false,
    (app) => app.gateway.routes,
    [{ host: undefined, prefix: '/x', service: 'web', strip: false }],
  ],
  'gateway.cors': [['https://page.example'], (app) => app.gateway.cors],
  'gateway.openapi': [true, (app) => app.gateway.openapi?.beforeEntry],
  'gateway.openapi.path': ['/api.json', (app) => app.gateway.openapi?.path],
  'gateway.openapi.page': ['/reference', (app) => app.gateway.openapi?.page],
  'gateway.openapi.title': ['Shop', (app) => app.gateway.openapi?.title],
  'gateway.openapi.version': ['2.0', (app) => app.gateway.openapi?.version],
  'admin.host': ['::1', (app) => app.admin?.host],
  'admin.port': [9464, (app) => app.admin?.port],
  'admin.token': ['0123456789abcdef', (app) => app.admin?.token],
  'limits.headerTimeout': [1, (app) => app.limits.headerTimeout],
  'limits.requestTimeout': [20_000, (app) => app.limits.requestTimeout],
  'limits.responseTimeout': [1, (app) => app.limits.responseTimeout],
  'limits.keepAliveTimeout': [1, (app) => app.limits.keepAliveTimeout],
  'limits.maxHeaderSize': [1, (app) => app.limits.maxHeaderSize],
  'limits.maxBodySize': [1, (app) => app.limits.maxBodySize],
  'limits.maxInputSize': [1, (app) => app.limits.maxInputSize],
  'limits.maxInFlight': [1, (app) => app.limits.maxInFlight],
  interceptors: ['stock/index.js', (app) => app.interceptors, /stock.index\.js$/],
  validate: ['edge', (app) => app.validate],
  'limits.maxHops': [1, (app) => app.limits.maxHops],
  'defaults.run': ['process', (app) => app.services[0]?.run],
  'defaults.env': [{ A: 'x' }, (app) => app.services[0]?.env['A'], 'x'],
  'defaults.envFile': ['x.env', (app) => app.services[0]?.env['A'], 'file'],
  'defaults.startTimeout': [1, (app) => app.services[0]?.startTimeout],
  'defaults.stopTimeout': [1, (app) => app.services[0]?.stopTimeout],
  'services.<name>.path': ['other', (app) => app.services[0]?.path, /other$/],
  'services.<name>.entry': ['second.js', (app) => app.services[0]?.entry.file, /second\.js$/],
  'services.<name>.command': ['next start', (app) => app.services[0]?.entry.args, ['start']],
  'services.<name>.run': ['thread', (app) => app.services[0]?.run],
  'services.<name>.group': ['checkout', (app) => app.services[0]?.group],
  'services.<name>.instances': [3, (app) => app.services[0]?.instances],
  'services.<name>.concurrency': [4, (app) => app.services[0]?.concurrency],
  'services.<name>.queue': [5, (app) => app.services[0]?.queue],
  'services.<name>.grace': ['1s', (app) => app.services[0]?.grace, 1000],
  'services.<name>.spare': [true, (app) => app.services[0]?.spare],
  'services.<name>.memory': ['64mb', (app) => app.services[0]?.memory, 64 * 1024 ** 2],
  'services.<name>.nodeOptions': ['--a --b', (app) => app.services[0]?.nodeOptions, ['--a', '--b']],
  'services.<name>.permissions.read': [['/a'], (app) => app.services[0]?.permissions?.read],
  'services.<name>.permissions.write': [['/a'], (app) => app.services[0]?.permissions?.write],
  'services.<name>.permissions.allow': [['worker'], (app) => app.services[0]?.permissions?.allow],
  'services.<name>.env': [{ A: 1 }, (app) => app.services[0]?.env['A'], '1'],
  'services.<name>.envFile': ['x.env', (app) => app.services[0]?.env['A'], 'file'],
  'services.<name>.needs': [['stock'], (app) => app.services[1]?.needs],
  'services.<name>.startTimeout': [1, (app) => app.services[0]?.startTimeout],
  'services.<name>.stopTimeout': [1, (app) => app.services[0]?.stopTimeout],
  'services.<name>.expose': [81, (app) => app.services[0]?.expose, [{ host: '127.0.0.1', port: 81 }]],
  'services.<name>.port': [82, (app) => app.services[0]?.port],
  'services.<name>.openapi': ['/documentation/json', (app) => app.services[0]?.openapi],
}

/** Objects whose keys are listed themselves, and what other tests read: TLS files, the parts of `expose`. */
const elsewhere =
  /^(gateway|admin|limits|defaults|services|services\.<name>|gateway\.tls(\..*)?|services\.<name>\.permissions|services\.<name>\.expose\..*)$/

describe('every key of a config', () => {
  it('is in the table of this test', () => {
    const keys = [...allKeys()].map(({ path }) => path).filter((path) => !elsewhere.test(path))
    assert.deepEqual(keys.toSorted(), Object.keys(everyKey).toSorted())
  })

  for (const [key, [value, read, expected = value]] of Object.entries(everyKey))
    it(`is read: ${key}`, async () => {
      using folder = new TestFolder({
        'busbar.config.json': configWith(key, value),
        'web/index.js': '',
        'web/second.js': '',
        'other/index.js': '',
        'stock/index.js': '',
        'x.env': 'A=file',
      })
      const found = read(await loadApp(folder.path, { env: {} }))
      if (expected instanceof RegExp) assert.match(String(found), expected)
      else assert.deepEqual(found, expected)
    })
})

/** What a key needs beside it. */
const beside: Readonly<Record<string, object>> = {
  command: { path: undefined },
  queue: { concurrency: 1 },
  grace: { concurrency: 1 },
  spare: { run: 'thread' },
  nodeOptions: { run: 'process' },
  read: { run: 'process' },
  write: { run: 'process' },
  allow: { run: 'process' },
}

function configWith(key: string, value: unknown): object {
  const services = { web: { path: 'web', ...beside[key.split('.').at(-1)!] }, stock: { path: 'stock' } }
  const [last, ...above] = key.replace('routes.<name>', 'routes./x').replace('<name>', 'web').split('.').toReversed()
  const admin = { port: 1, token: 'not to be guessed' }
  const gateway = { routes: { '/x': { service: 'web' } } }
  const config: Record<string, unknown> = {
    services,
    ...(key.startsWith('admin.') && { admin }),
    ...(key.startsWith('gateway.routes.') && { gateway }),
  }
  let at = config
  for (const part of above.toReversed()) at = (at[part] ??= {}) as Record<string, unknown>
  at[last!] = value
  return config
}
