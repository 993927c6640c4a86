import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { generate } from 'selfsigned'
import type { CertificateFiles } from '../src/arm.ts'
import { bench } from '../src/bench.ts'
import type { OwnRequests } from '../src/user-app/own-requests.ts'
import { userAppScenario } from '../src/user-app/user-app.ts'
import { requestOf } from '../src/scenarios/cells.ts'
import { freePort } from '../../busbar/test/support/http/free-ports.ts'
import { OwnCache, tiny, withEngine } from './support/fixture.ts'

const { signal } = new AbortController()
/** The requests of a run with `--path`. */
const get = (path: string): OwnRequests => ({ requests: [{ path }], weights: [1], isPlain: true })
const program = (answer: string) =>
  `require('node:http').createServer((request, response) => {
    if (request.url !== '/checkout') response.statusCode = 404
    response.end(${answer})
  }).listen(process.env.PORT)`

test('a program is measured under plain node and under Busbar, and must repeat its answers', withEngine, async () => {
  using app = new AppFolder({ 'server.js': program(`'paid'`) })
  const { scenario, oneAtATime, notes } = await userAppScenario(app.path, { own: get('/checkout'), signal })
  assert.deepEqual([scenario.arms.map(({ name }) => name), scenario.baseline], [['node', 'busbar'], 'node'])
  assert.deepEqual([oneAtATime, notes], [false, []])
  assert.deepEqual(requestOf(scenario, { quick: true }), { path: '/checkout' })
  using _ = new OwnCache()
  const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
  for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
})

test('an app that always compresses is measured', withEngine, async () => {
  using app = new AppFolder({
    'server.js': program(`require('node:zlib').gzipSync('paid')`).replace(
      'response.end',
      `response.setHeader('content-encoding', 'gzip'); response.end`,
    ),
  })
  const { scenario } = await userAppScenario(app.path, { own: get('/checkout'), signal })
  using _ = new OwnCache()
  const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
  assert.equal(result.arms.length, 3)
  for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
})

test('an app with fixed ports is measured one arm at a time', withEngine, async () => {
  const port = await freePort()
  using app = new AppFolder({
    'busbar.config.json': JSON.stringify({
      gateway: { entry: 'web' },
      defaults: { run: 'shared' },
      services: { web: './web.js', stock: { path: './stock.js', expose: port } },
    }),
    'web.js': program(`'paid'`),
    'stock.js': program(`'in stock'`),
  })
  const { scenario, oneAtATime } = await userAppScenario(app.path, { own: get('/checkout'), signal })
  assert.deepEqual([scenario.arms.map(({ name }) => name), oneAtATime], [['busbar'], true])
  using _ = new OwnCache()
  const result = await bench(scenario, { quick: true, oneAtATime, timing: tiny, command: 'test' })
  assert.deepEqual(
    result.arms.map(({ name, invalidBecause, slices }) => [name, invalidBecause, slices.length]),
    [
      ['busbar', [], 2],
      ['busbar (again)', [], 2],
    ],
  )
})

describe('an app with TLS at the gateway', () => {
  const files = (certificate: CertificateFiles) => ({
    'busbar.config.json': JSON.stringify({
      gateway: { entry: 'web', tls: certificate },
      services: { web: './web.js' },
    }),
    'web.js': program(`'paid'`),
  })

  test('is measured over TLS, and its certificate is trusted regardless of its name', withEngine, async () => {
    using certificates = new AppFolder({})
    using app = new AppFolder(files(await selfMade(certificates.path)))
    const { scenario } = await userAppScenario(app.path, { own: get('/checkout'), signal })
    // Without plain node, which would have no TLS.
    assert.deepEqual([scenario.arms.map(({ name }) => name), scenario.baseline], [['busbar'], 'busbar'])
    using _ = new OwnCache()
    const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
    for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
  })

  test('is also measured by autocannon', async () => {
    using certificates = new AppFolder({})
    using app = new AppFolder(files(await selfMade(certificates.path)))
    using _ = new OwnCache()
    const before = process.env['BUSBAR_LOAD']
    process.env['BUSBAR_LOAD'] = 'autocannon'
    try {
      const { scenario } = await userAppScenario(app.path, { own: get('/checkout'), signal })
      const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
      for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
    } finally {
      if (before === undefined) delete process.env['BUSBAR_LOAD']
      else process.env['BUSBAR_LOAD'] = before
    }
  })
})

describe('an app with varied placement', () => {
  const files = {
    'busbar.config.json': JSON.stringify({
      gateway: { entry: 'web' },
      defaults: { run: 'shared' },
      services: {
        web: { path: './web.js' },
        stock: { path: './stock.js', group: 'store' },
        pages: { command: `'${process.execPath}' pages.js` },
      },
    }),
    'web.js': program(`'paid'`),
    'stock.js': program(`'in stock'`),
    'pages.js': program(`'page'`),
  }

  test('has an arm for each distinct placement, and notes for services that cannot be moved', withEngine, async () => {
    using app = new AppFolder(files)
    const { scenario, notes } = await userAppScenario(app.path, { own: get('/checkout'), vary: 'placement', signal })
    const arms = scenario.arms.map(({ name, single }) => [name, single])
    assert.deepEqual(arms, [
      ['busbar', false],
      // Without a shared worker the number of workers has no effect.
      ['thread', true],
      ['process', true],
    ])
    assert.deepEqual(notes, [
      'Left out: shared, since it is the same as busbar.',
      'Not moved in thread: pages (process).',
      'Not moved in process: stock (thread).',
    ])
    using _ = new OwnCache()
    const result = await bench(scenario, { quick: true, notes, timing: tiny, command: 'test' })
    for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
    assert.equal(result.arms.length, 4)
    assert.deepEqual(result.notes.slice(0, notes.length), notes)
    assert.match(result.question, /where should its services run\?/)
  })

  test('has plain node as the baseline if it is one program', async () => {
    using app = new AppFolder({ 'server.js': program(`'paid'`) })
    const { scenario } = await userAppScenario(app.path, { own: get('/checkout'), vary: 'placement', signal })
    const names = scenario.arms.map(({ name }) => name)
    assert.deepEqual([names, scenario.baseline], [['node', 'busbar', 'thread', 'process'], 'node'])
  })
})

test('of varying answers only status and headers are checked, with a note', withEngine, async () => {
  using app = new AppFolder({ 'server.js': program('String(process.hrtime.bigint())') })
  const { scenario, notes } = await userAppScenario(app.path, { own: get('/checkout'), signal })
  assert.match(notes.join(), /only their status and headers/)
  using _ = new OwnCache()
  const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
  for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
})

test('a program that ignores PORT has no baseline, with a note', async () => {
  const port = await freePort()
  using app = new AppFolder({ 'server.js': program(`'paid'`).replace('process.env.PORT', String(port)) })
  const { scenario, notes } = await userAppScenario(app.path, { own: get('/checkout'), signal })
  assert.deepEqual(
    scenario.arms.map(({ name }) => name),
    ['busbar'],
  )
  assert.match(notes.join(), /Left out: the program under plain node, since it must listen on the port in PORT/)
})

test('a missing path and an invalid config are reported', async () => {
  using app = new AppFolder({ 'server.js': program(`'paid'`) })
  await assert.rejects(
    userAppScenario(app.path, { own: get('/nowhere'), signal }),
    /no good answer at \/nowhere \(it answered 404\)/,
  )
  using wrong = new AppFolder({ 'busbar.config.json': '{"services":{"web":"./nothing"}}' })
  await assert.rejects(userAppScenario(wrong.path, { own: get('/'), signal }), /nothing/)
})

/** Like `openssl req -x509`: a CA certificate, without a name of this machine. */
async function selfMade(folder: string): Promise<CertificateFiles> {
  const pems = await generate([{ name: 'commonName', value: 'shop.example' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'basicConstraints', cA: true }],
  })
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  writeFileSync(files.cert, pems.cert)
  writeFileSync(files.key, pems.private)
  return files
}

class AppFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'busbar-lab-test-'))

  constructor(files: Readonly<Record<string, string>>) {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true })
      writeFileSync(join(this.path, name), content)
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
