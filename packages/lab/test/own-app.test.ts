import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { generate } from 'selfsigned'
import type { CertificateFiles } from '../src/arm.ts'
import { bench } from '../src/bench.ts'
import { ownApp } from '../src/own-app.ts'
import { requestOf } from '../src/scenarios/cells.ts'
import { OwnCache, tiny, withEngine } from './support/fixture.ts'

const { signal } = new AbortController()
const program = (answer: string) =>
  `require('node:http').createServer((request, response) => {
    if (request.url !== '/checkout') response.statusCode = 404
    response.end(${answer})
  }).listen(process.env.PORT)`

test('a program is measured under plain node and under Busbar, by what it answers now', withEngine, async () => {
  using app = new AppFolder({ 'server.js': program(`'paid'`) })
  const { scenario, oneAtATime, notes } = await ownApp(app.path, { path: '/checkout', signal })
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
  const { scenario } = await ownApp(app.path, { path: '/checkout', signal })
  using _ = new OwnCache()
  const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
  assert.equal(result.arms.length, 3)
  for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
})

test('an app of several services that opens ports of its own is measured one copy at a time', withEngine, async () => {
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
  const { scenario, oneAtATime } = await ownApp(app.path, { path: '/checkout', signal })
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

describe('an app whose gateway speaks TLS', () => {
  const files = (certificate: CertificateFiles) => ({
    'busbar.config.json': JSON.stringify({
      gateway: { entry: 'web', tls: certificate },
      services: { web: './web.js' },
    }),
    'web.js': program(`'paid'`),
  })

  test('is measured over it, trusted for its own certificate, whatever name that has', withEngine, async () => {
    using certificates = new AppFolder({})
    using app = new AppFolder(files(await selfMade(certificates.path)))
    const { scenario } = await ownApp(app.path, { path: '/checkout', signal })
    // Plain node beside it would not speak TLS.
    assert.deepEqual([scenario.arms.map(({ name }) => name), scenario.baseline], [['busbar'], 'busbar'])
    using _ = new OwnCache()
    const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
    for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
  })

  test('is measured without our engine, too', async () => {
    using certificates = new AppFolder({})
    using app = new AppFolder(files(await selfMade(certificates.path)))
    using _ = new OwnCache()
    const before = process.env['BUSBAR_LOAD']
    process.env['BUSBAR_LOAD'] = 'autocannon'
    try {
      const { scenario } = await ownApp(app.path, { path: '/checkout', signal })
      const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
      for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
    } finally {
      if (before === undefined) delete process.env['BUSBAR_LOAD']
      else process.env['BUSBAR_LOAD'] = before
    }
  })
})

describe('an app whose placement is varied', () => {
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

  test('has an arm for each placement that is another, and is told what cannot be moved', withEngine, async () => {
    using app = new AppFolder(files)
    const { scenario, notes } = await ownApp(app.path, { path: '/checkout', vary: 'placement', signal })
    const arms = scenario.arms.map(({ name, single }) => [name, single])
    assert.deepEqual(arms, [
      ['busbar', false],
      // Without a shared worker there is nothing that more workers would multiply.
      ['thread', true],
      ['process', true],
    ])
    assert.deepEqual(notes.slice(0, 3), [
      'Left out: shared, since that is the same as busbar.',
      'Not moved in thread: pages (process).',
      'Not moved in process: stock (thread).',
    ])
    assert.match(notes[3]!, /Commands \(pages\) are not in the CPU time/)
    using _ = new OwnCache()
    const result = await bench(scenario, { quick: true, notes, timing: tiny, command: 'test' })
    for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
    assert.equal(result.arms.length, 4)
    assert.deepEqual(result.notes.slice(0, notes.length), notes)
    assert.match(result.question, /where should its services run\?/)
  })

  test('keeps plain node as the baseline of one program', async () => {
    using app = new AppFolder({ 'server.js': program(`'paid'`) })
    const { scenario } = await ownApp(app.path, { path: '/checkout', vary: 'placement', signal })
    const names = scenario.arms.map(({ name }) => name)
    assert.deepEqual([names, scenario.baseline], [['node', 'busbar', 'thread', 'process'], 'node'])
  })
})

test(
  'answers that differ from each other are held to status and headers alone, which is said',
  withEngine,
  async () => {
    using app = new AppFolder({ 'server.js': program('String(process.hrtime.bigint())') })
    const { scenario, notes } = await ownApp(app.path, { path: '/checkout', signal })
    assert.match(notes.join(), /only their status and headers/)
    using _ = new OwnCache()
    const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
    for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
  },
)

test('a program that listens where it likes has no baseline, and the reason is said', async () => {
  const port = await freePort()
  using app = new AppFolder({ 'server.js': program(`'paid'`).replace('process.env.PORT', String(port)) })
  const { scenario, notes } = await ownApp(app.path, { path: '/checkout', signal })
  assert.deepEqual(
    scenario.arms.map(({ name }) => name),
    ['busbar'],
  )
  assert.match(notes.join(), /Left out: the program under plain node, since it must listen where PORT says/)
})

test('a path that is not there, and a config that is wrong, end with a sentence', async () => {
  using app = new AppFolder({ 'server.js': program(`'paid'`) })
  await assert.rejects(
    ownApp(app.path, { path: '/nowhere', signal }),
    /no good answer at \/nowhere \(it answered 404\)/,
  )
  using wrong = new AppFolder({ 'busbar.config.json': '{"services":{"web":"./nothing"}}' })
  await assert.rejects(ownApp(wrong.path, { path: '/', signal }), /nothing/)
})

/** As `openssl req -x509` makes it: an authority of itself, and for no name of this machine. */
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

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    server.close(() => resolve(port))
  })
  return promise
}
