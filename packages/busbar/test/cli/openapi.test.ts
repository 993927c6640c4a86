import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { pollUntil } from '../support/app/test-app.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const described = new URL('../gateway/programs/described', import.meta.url).pathname

test('prints the document of an app, and notes to standard error', async () => {
  const { code, stdout, stderr } = await BusbarProcess.run(['openapi', described])
  assert.equal(code, 0, stderr)
  const { info, paths } = JSON.parse(stdout) as { info: { title: string }; paths: object }
  assert.equal(info.title, 'described')
  assert.ok(Object.hasOwn(paths, '/api/products/{id}') && Object.hasOwn(paths, '/shop/baskets/{id}'))
  assert.match(stderr, /^note: Service 'silent' is left out: \/nothing\.json answered 404$/m)
})

test('includes a program that is a raw entry, and opens none of its ports', async () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'web', version: '1' },
    paths: { '/': { get: { responses: {} } } },
  }
  const program = `require('node:http').createServer((_, res) => res.end(${JSON.stringify(JSON.stringify(document))})).listen(3000)`
  using folder = new TestFolder({
    // The test process is not permitted to open either port.
    'busbar.config.json': {
      gateway: { host: '192.0.2.1', port: 80, entry: 'web' },
      services: { web: { path: './web', openapi: '/openapi.json', expose: { host: '192.0.2.1', port: 81 } } },
    },
    'web/index.js': program,
  })
  const { code, stdout, stderr } = await BusbarProcess.run(['openapi', folder.path])
  assert.equal(code, 0, stderr)
  assert.deepEqual(Object.keys((JSON.parse(stdout) as { paths: object }).paths), ['/'])
})

test('fails if no service has a document', async () => {
  using folder = new TestFolder({ 'index.js': `throw new Error('it is not started')` })
  const { code, stdout, stderr } = await BusbarProcess.run(['openapi', folder.path])
  assert.deepEqual([code, stdout], [3, ''])
  assert.match(stderr, /has an OpenAPI document[^]*services\.<name>\.openapi/)
})

test('stops the app when a signal comes first', async () => {
  using folder = new TestFolder({
    'busbar.config.json': { services: { web: { path: './web', openapi: '/openapi.json' } } },
    // Logs the request for its document, and never answers it.
    'web/index.js': `
      const { writeFileSync } = require('node:fs')
      process.on('exit', () => writeFileSync(__dirname + '/stopped', ''))
      require('node:http').createServer(() => writeFileSync(__dirname + '/asked', '')).listen(3000)`,
  })
  await using busbar = new BusbarProcess(['openapi', folder.path])
  await pollUntil(() => existsSync(folder.at('web/asked')))
  busbar.child.kill('SIGTERM')
  const { code, stdout, stderr } = await busbar.ended
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /SIGTERM was received before the document was complete/)
  assert.ok(existsSync(folder.at('web/stopped')))
})

test('exits with the error of a service that does not start', async () => {
  using folder = new TestFolder({
    'busbar.config.json': { services: { web: { path: './web', openapi: '/openapi.json' } } },
    'web/index.js': `throw new Error('no database')`,
  })
  const { code, stdout, stderr } = await BusbarProcess.run(['openapi', folder.path])
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /no database/)
})
