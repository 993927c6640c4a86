import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { App } from '../../src/config/app.ts'
import { allKeys } from '../../src/config/schema/json-schema.ts'
import { loadApp } from '../../src/config/load.ts'
import { type AppConfig, defineApp } from '../../src/index.ts'
import { TestFolder } from '../support/app/test-folder.ts'

describe('defineApp', () => {
  it('returns its argument', () => {
    const config = { services: { web: './web' } }
    assert.equal(defineApp(config), config)
    const later = async (): Promise<AppConfig> => config
    assert.equal(defineApp(later), later)
  })

  it('has exact types for a config', () => {
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
      // @ts-expect-error: an unknown key
      defineApp({ worker: 1 }),
      // @ts-expect-error: not an allowed value
      defineApp({ accept: 'fair' }),
      // @ts-expect-error: an unknown unit
      defineApp({ stopTimeout: '5x' }),
      // @ts-expect-error: text instead of a number
      defineApp({ gateway: { port } }),
      defineApp({ services: { web: { path: './web', run: 'thread', instances: 'cpus-1', memory: '64mb' } } }),
      // @ts-expect-error: an unknown placement
      defineApp({ services: { web: { path: './web', run: 'cluster' } } }),
      // @ts-expect-error: a function that does not return a config
      defineApp(() => 1),
    ]
    assert.equal(accepted.length, 11)
  })
})

/** A non-default value for every key, and where it shows in the app. */
const everyKey: Readonly<Record<string, readonly [value: unknown, read: (app: App) => unknown, expected?: unknown]>> = {
  $schema: ['x', () => 'x'],
  workers: [2, (app) => app.workers],
  accelerators: [['stream'], (app) => app.accelerators],
  accept: ['reusePort', (app) => app.accept],
  stopTimeout: [1000, (app) => app.stopTimeout],
  'trial.window': ['1s', (app) => app.trial?.window, 1000],
  'trial.errors': [3, (app) => app.trial?.errors],
  'trial.p99': [3, (app) => app.trial?.p99],
  'trial.calls': [3, (app) => app.trial?.calls],
  'traces.sample': [0.5, (app) => app.traces?.sample],
  'traces.slow': ['250ms', (app) => app.traces?.slow, 250],
  'traces.keep': [20, (app) => app.traces?.keep],
  'otlp.url': ['http://collector:4318/', (app) => app.otlp?.url, 'http://collector:4318'],
  'otlp.headers': [
    { 'x-key': 'secret' },
    (app) => [app.otlp?.headers, app.secrets],
    [{ 'x-key': 'secret' }, ['secret']],
  ],
  'otlp.protocol': ['grpc', (app) => app.otlp?.protocol],
  'otlp.metrics': [false, (app) => app.otlp?.metrics !== undefined],
  'otlp.traces': [false, (app) => app.otlp?.traces !== undefined],
  'otlp.interval': ['5s', (app) => app.otlp?.interval, 5000],
  maxRestarts: [3, (app) => app.maxRestarts],
  slowStart: ['5s', (app) => app.slowStart, 5000],
  stableAfter: ['5s', (app) => app.stableAfter, 5000],
  startConcurrency: [4, (app) => app.startConcurrency],
  stopDelay: ['5s', (app) => app.stopDelay, 5000],
  'gateway.host': ['::1', (app) => app.gateway.host],
  'gateway.port': [1, (app) => app.gateway.port],
  'gateway.entrance': ['native', (app) => app.gateway.entrance],
  'gateway.balance': ['connection', (app) => app.gateway.balance],
  'gateway.raw': [false, (app) => app.gateway.raw],
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
  'gateway.grpc': [true, (app) => app.gateway.grpc, { reflection: true }],
  'gateway.grpc.reflection': [false, (app) => app.gateway.grpc?.reflection],
  'gateway.probes': [true, (app) => app.gateway.probes],
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
  'limits.webSocketDrain': [1, (app) => app.limits.webSocketDrain],
  'limits.maxHops': [1, (app) => app.limits.maxHops],
  'defaults.run': ['process', (app) => app.services[0]?.run],
  'defaults.env': [{ A: 'x' }, (app) => app.services[0]?.env['A'], 'x'],
  'defaults.envFile': ['x.env', (app) => app.services[0]?.env['A'], 'file'],
  'defaults.startTimeout': [1, (app) => app.services[0]?.startTimeout],
  'logs.stdout': [false, (app) => app.logs?.stdout],
  'logs.files': ['./logs', (app) => app.logs?.files?.folder, /\/logs$/],
  'logs.files.folder': ['x', (app) => app.logs?.files?.folder, /\/x$/],
  'logs.files.maxSize': ['1mb', (app) => app.logs?.files?.maxSize, 1024 ** 2],
  'logs.files.maxAge': ['1h', (app) => app.logs?.files?.maxAge, 3_600_000],
  'logs.files.maxTotal': ['1gb', (app) => app.logs?.files?.maxTotal, 1024 ** 3],
  'logs.files.compress': [false, (app) => app.logs?.files?.compress],
  'logs.rate': [100, (app) => app.logs?.rate],
  'logs.redact': [['iban'], (app) => app.logs?.redact],
  'queues.file': ['q.sqlite', (app) => placeOf(app), /q\.sqlite$/],
  'queues.window': ['5s', (app) => queueOf(app)?.window, 5_000],
  'queues.maxDepth': [7, (app) => queueOf(app)?.maxDepth],
  'queues.maxSize': ['2kb', (app) => queueOf(app)?.maxSize, 2_048],
  'queues.keepDead': [3, (app) => queueOf(app)?.keepDead],
  'queues.attempts': [4, (app) => queueOf(app)?.usual.attempts, 4],
  'queues.backoff': ['2s', (app) => queueOf(app)?.usual.backoff, 2_000],
  'queues.maxBackoff': ['3s', (app) => queueOf(app)?.usual.maxBackoff, 3_000],
  'queues.timeout': ['4s', (app) => queueOf(app)?.usual.timeout, 4_000],
  'queues.concurrency': [5, (app) => queueOf(app)?.usual.concurrency, 5],
  'queues.methods': [{ 'typed.sum': { attempts: 2 } }, (app) => queueOf(app)?.methods['typed.sum']?.attempts, 2],
  'schedule.<name>': [
    { cron: '@daily', request: 'GET http://web.internal/' },
    (app) => app.schedule?.[0]?.cron,
    '@daily',
  ],
  'schedule.<name>.cron': ['1 2 3 4 5', (app) => app.schedule?.[0]?.cron],
  'schedule.<name>.timeZone': ['Asia/Tokyo', (app) => app.schedule?.[0]?.timeZone],
  'schedule.<name>.call': ['typed.sum', (app) => JSON.stringify(app.schedule?.[0]?.target), /"typed","method":"sum"/],
  'schedule.<name>.request': [
    'POST http://stock.internal/a?b=1',
    (app) => app.schedule?.[0]?.target,
    { kind: 'request', service: 'stock', verb: 'POST', path: '/a?b=1', body: undefined },
  ],
  'schedule.<name>.task': ['./web/index.js', (app) => app.schedule?.[0]?.target.kind, 'task'],
  'schedule.<name>.input': [{ a: 1 }, (app) => JSON.stringify(app.schedule?.[0]?.target), /"body":"\{\\"a\\":1\}"/],
  'schedule.<name>.overlap': ['queue', (app) => app.schedule?.[0]?.overlap],
  'schedule.<name>.jitter': ['1m', (app) => app.schedule?.[0]?.jitter, 60_000],
  'schedule.<name>.missed': ['run', (app) => app.schedule?.[0]?.missed],
  'schedule.<name>.timeout': ['1h', (app) => app.schedule?.[0]?.timeout, 3_600_000],
  'defaults.stopTimeout': [1, (app) => app.services[0]?.stopTimeout],
  'services.<name>.path': ['other', (app) => app.services[0]?.path, /other$/],
  'services.<name>.entry': ['second.js', (app) => app.services[0]?.entry.file, /second\.js$/],
  'services.<name>.command': ['next start', (app) => app.services[0]?.entry.args, ['start']],
  'services.<name>.args': [['--a', 'b'], (app) => app.services[0]?.entry.args],
  'services.<name>.sticky': ['cookie', (app) => app.services[0]?.sticky],
  'services.<name>.pathTemplates': [['GET /items/:id'], (app) => app.services[0]?.pathTemplates],
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
  'services.<name>.ready': ['signal', (app) => app.services[0]?.ready],
  'services.<name>.health': ['/up', (app) => app.services[0]?.health?.path],
  'services.<name>.maxUptime': ['1h', (app) => app.services[0]?.maxUptime, 3_600_000],
  'services.<name>.cronRestart': ['0 4 * * *', (app) => app.services[0]?.cronRestart?.cron],
  'services.<name>.expose': [81, (app) => app.services[0]?.expose, [{ host: '127.0.0.1', port: 81 }]],
  'services.<name>.build': ['tsc', (app) => app.services[0]?.build?.text],
  'services.<name>.build.command': ['tsc -p .', (app) => app.services[0]?.build?.commands, [['tsc', '-p', '.']]],
  'services.<name>.build.output': ['index.js', (app) => app.services[0]?.name, 'web'],
  'services.<name>.localhost': [3001, (app) => app.services[0]?.localhost, [3001]],
  'services.<name>.port': [82, (app) => app.services[0]?.port],
  'services.<name>.openapi': ['/documentation/json', (app) => app.services[0]?.openapi],
}

/**
 * Objects whose keys are listed separately, and keys of other tests: TLS, client certificates, the
 * parts of `expose`, `health`, `cronRestart`, `instances` and `workers`, and those about other
 * hosts.
 */
const elsewhere =
  /^(trial|traces|otlp|gateway|admin|limits|defaults|environments|logs|queues|queues\.methods\.<name>(\..*)?|schedule|services|services\.<name>|gateway\.tls(\..*)?|gateway\.routes\.<name>\.clientCertificate|services\.<name>\.permissions|services\.<name>\.(expose|health|cronRestart|instances)\..*|workers\..*|export(\..*)?|cluster(\..*)?|identity(\..*)?|services\.<name>\.(remote|versions)(\..*)?)$/

const queueOf = ({ services }: App) => services.find((one) => one.queueSettings !== undefined)?.queueSettings
const placeOf = (app: App) => {
  const place = queueOf(app)?.place
  return place?.is === 'file' ? place.path : undefined
}

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
        'typed/contract.js': '',
        'typed/index.js': '',
        'x.env': 'A=file',
      })
      const found = read(await loadApp(folder.path, { env: {} }))
      if (expected instanceof RegExp) assert.match(String(found), expected)
      else assert.deepEqual(found, expected)
    })
})

/** Other keys that a key requires. */
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

/** Without another target beside the one that is tested. */
function scheduled(key: string): object {
  const isTarget = /\.(?:call|task)$/.test(key)
  return { cron: '@daily', ...(!isTarget && { request: 'GET http://web.internal/' }) }
}

function configWith(key: string, value: unknown): object {
  const besides = key.startsWith('services.<name>.build.') ? {} : beside[key.split('.').at(-1)!]
  const services = { web: { path: 'web', ...besides }, stock: { path: 'stock' }, typed: { path: 'typed' } }
  const [last, ...above] = key.replace('routes.<name>', 'routes./x').replace('<name>', 'web').split('.').toReversed()
  const admin = { port: 1, token: 'not to be guessed' }
  const gateway = { routes: { '/x': { service: 'web' } } }
  const config: Record<string, unknown> = {
    services,
    ...(key.startsWith('admin.') && { admin }),
    ...(key.startsWith('schedule.') && { schedule: { web: scheduled(key) } }),
    ...(key.startsWith('traces.') && { traces: { sample: 0 } }),
    // Their packages are optional.
    ...(key.startsWith('otlp.') && { otlp: { metrics: false, traces: false } }),
    ...(key.startsWith('logs.files.') && { logs: { files: { folder: 'logs' } } }),
    ...(key.startsWith('gateway.routes.') && { gateway }),
  }
  let at = config
  for (const part of above.toReversed()) at = (at[part] ??= {}) as Record<string, unknown>
  at[last!] = value
  return config
}
