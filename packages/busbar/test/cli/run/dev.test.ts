import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const config = {
  defaults: { run: 'shared' },
  gateway: { port: 0, entry: 'web' },
  services: { web: './web', stock: './stock' },
}

function program(says: string): string {
  return `require('node:http').createServer((request, response) => response.end('${says}')).listen(3000)`
}

const files = { 'busbar.config.json': config, 'web/index.js': program('one'), 'stock/index.js': program('stock') }

test('a changed service is logged, and its new version answers at the same address', async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['dev', folder.path])
  const url = await busbar.url()
  await busbar.message('watching')
  assert.equal(await textAt(url), 'one')
  folder.write('web/index.js', program('two'))
  await busbar.message('web changed (web/index.js): restarting')
  await busbar.message('restarted in')
  assert.equal(await textAt(url), 'two')
  busbar.child.kill('SIGINT')
  assert.equal((await busbar.ended).code, 0)
})

test('only the workers of a changed service are replaced; a changed contract replaces all workers', async () => {
  const program = `require('node:http').createServer((_, response) => response.end(String(process.pid))).listen(3000)`
  using folder = new TestFolder({
    'busbar.config.json': {
      gateway: { port: 0 },
      services: { web: './web', stock: './stock' },
      defaults: { run: 'process' },
    },
    'web/index.js': program,
    'stock/index.js': program,
  })
  await using busbar = new BusbarProcess(['dev', folder.path])
  const url = await busbar.url()
  await busbar.message('watching')
  const pids = async (): Promise<string[]> => [await textAt(`${url}/web`), await textAt(`${url}/stock`)]
  const [web, stock] = await pids()
  folder.write('web/index.js', `${program} // changed`)
  await busbar.message('restarted in')
  const [webAfter, stockAfter] = await pids()
  assert.notEqual(webAfter, web)
  assert.equal(stockAfter, stock)
  const seen = busbar.events.length
  folder.write('web/contract.json', '{}')
  await busbar.message('restarted in', seen)
  assert.notEqual((await pids())[1], stock)
})

test('a version that fails is reported, and the previous one serves until the failure is fixed', async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['dev', folder.path])
  const url = await busbar.url()
  await busbar.message('watching')
  folder.write('stock/index.js', `throw new Error('half written')`)
  await busbar.message('the previous version keeps serving')
  await busbar.until(() => /stock[\s\S]+Error: half written/.test(busbar.stderr))
  assert.equal(await textAt(url), 'one')
  folder.write('stock/index.js', program('mended'))
  await busbar.message('restarted in')
  assert.equal(await textAt(url), 'one')
})

test('an app that fails to start starts after it is fixed', async () => {
  using folder = new TestFolder({ ...files, 'busbar.config.json': { ...config, wokers: 1 } })
  await using busbar = new BusbarProcess(['dev', folder.path])
  await busbar.message('nothing runs; the next change starts the app')
  assert.match(busbar.stderr, /wokers/)
  folder.write('busbar.config.json', config)
  assert.equal(await textAt(await busbar.url()), 'one')
})

test('a change that a running app cannot take over restarts the whole app', async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['dev', folder.path])
  await busbar.url()
  await busbar.message('watching')
  const seen = busbar.events.length
  folder.write('busbar.config.json', { ...config, workers: 2, accept: 'reusePort' })
  await busbar.message('the whole app stops and starts again', seen)
  const event = await busbar.event(({ addresses }) => addresses !== undefined, seen)
  assert.deepEqual(event['services'], [
    { name: 'web', runs: 'shared, 2 workers' },
    { name: 'stock', runs: 'shared, 2 workers' },
  ])
  assert.equal(await textAt((event['addresses'] as { url: string }[])[0]!.url), 'one')
})

test('installed and built files cause no restart', async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['dev', folder.path])
  const url = await busbar.url()
  await busbar.message('watching')
  folder.write('web/node_modules/dep/index.js', '1')
  folder.write('web/index.js', program('two'))
  const event = await busbar.message('restarting')
  assert.equal(event['msg'], 'web changed (web/index.js): restarting')
  await busbar.message('restarted in')
  assert.equal(await textAt(url), 'two')
})

test('a signal during a restart stops the app with exit code 0', async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['dev', folder.path])
  await busbar.url()
  await busbar.message('watching')
  folder.write('web/index.js', `console.log('loading'); setInterval(() => {}, 1000)`)
  await busbar.message('loading')
  busbar.child.kill('SIGTERM')
  assert.equal((await busbar.ended).code, 0)
})

test(
  'a thread that hangs in a system call does not keep it from stopping',
  { skip: process.platform === 'win32' },
  async () => {
    const hanging = `
    const { readFileSync } = require('node:fs')
    require('node:http').createServer(() => {}).listen(3000, () => setTimeout(() => {
      console.log('hanging')
      readFileSync(__dirname + '/fifo')
    }, 500))`
    using folder = new TestFolder({
      ...files,
      'busbar.config.json': { ...config, stopTimeout: '200ms' },
      'web/index.js': hanging,
    })
    execFileSync('mkfifo', [folder.at('web/fifo')])
    await using busbar = new BusbarProcess(['dev', folder.path])
    await busbar.url()
    await busbar.message('hanging')
    busbar.child.kill('SIGTERM')
    assert.equal((await busbar.ended).signal, 'SIGKILL')
  },
)

/** Without keep-alive: a kept connection ends with its worker, possibly right now. */
async function textAt(url: string): Promise<string> {
  return await (await fetch(url, { headers: { connection: 'close' } })).text()
}
