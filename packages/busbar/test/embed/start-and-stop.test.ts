/** How `startApp` starts, how a start fails or is aborted, and what a stop leaves behind. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { startApp } from '../../src/embed/start-app.ts'
import { folderWithBusbar, TestFolder } from '../support/app/test-folder.ts'

const program = `
  import { createServer } from 'node:http'
  createServer((_, response) => response.end('served')).listen(3000)`

const never = `setInterval(() => {}, 1000)`

const config = (services: object, host = '127.0.0.1'): object => ({
  gateway: { port: 0, host, entry: Object.keys(services)[0]! },
  services,
})

describe('the first argument', () => {
  test('may be a file: URL, also as a string', async () => {
    using folder = new TestFolder({ 'a & b, 100% #1?/index.mjs': program })
    const url = pathToFileURL(folder.at('a & b, 100% #1?'))
    for (const location of [url, url.href]) {
      await using app = await startApp(location, { port: 0 })
      assert.equal(await (await fetch(app.url)).text(), 'served')
    }
  })

  test('is refused with an example if it is another URL', async () => {
    for (const location of [new URL('https://shop.example/'), 'file://elsewhere/shop'])
      await assert.rejects(startApp(location), {
        code: 'CONFIG_INVALID',
        message: /the first argument of startApp is .+; allowed is the path or the file: URL of an app/,
        hint: /startApp\('\.\/shop'\)/,
      })
  })
})

describe('environment', () => {
  test('is merged over the config, and must be one of it', async () => {
    const config = {
      gateway: { port: 0, entry: 'web' },
      services: { web: { path: './web', env: { MODE: 'plain' } } },
      environments: { production: { services: { web: { env: { MODE: 'production' } } } } },
    }
    const code = `require('node:http').createServer((_, response) => response.end(process.env.MODE)).listen(3000)`
    using folder = new TestFolder({ 'busbar.config.json': config, 'web/index.js': code })
    for (const [environment, mode] of [
      [undefined, 'plain'],
      ['production', 'production'],
    ] as const) {
      await using app = await startApp(folder.path, { environment })
      assert.equal(await (await app.fetch('web', '/')).text(), mode)
      await app.reload()
      assert.equal(await (await app.fetch('web', '/')).text(), mode)
    }
    await assert.rejects(startApp(folder.path, { environment: 'prodution' }), /the nearest is production/)
  })
})

describe('signal', () => {
  test('aborts a start, which rejects with its reason', async () => {
    using folder = new TestFolder({ 'index.mjs': `console.log('begins')\n${never}` })
    const abort = new AbortController()
    const reason = new Error('took too long')
    const log = ({ line }: { line: string }): void => {
      if (line === 'begins') abort.abort(reason)
    }
    await assert.rejects(startApp(folder.path, { port: 0, signal: abort.signal, log }), reason)
    await assert.rejects(startApp(folder.path, { port: 0, signal: abort.signal }), reason)
  })

  test('aborts the first steps of a start, which leave nothing', async () => {
    using folder = new TestFolder({ 'index.mjs': program })
    const abort = new AbortController()
    const log = ({ line }: { line: string }): void => {
      if (line.startsWith('accelerators ')) abort.abort()
    }
    await assert.rejects(startApp(folder.path, { port: 0, signal: abort.signal, log }), { name: 'AbortError' })
  })

  test('stops a running app', async () => {
    using folder = new TestFolder({ 'index.mjs': program })
    const abort = new AbortController()
    await using app = await startApp(folder.path, { port: 0, signal: abort.signal })
    abort.abort()
    assert.deepEqual(await app.ended, { why: 'stopped' })
  })

  test('is refused if it is not an AbortSignal', async () => {
    const options: object = { signal: new AbortController() }
    await assert.rejects(startApp('.', options), { code: 'CONFIG_INVALID', message: /allowed is an AbortSignal/ })
  })
})

test('a start that fails at its first step leaves no temporary folder', async () => {
  using folder = new TestFolder({ 'index.mjs': program, 'tmp/.keep': '' })
  await using app = await startApp(folder.path, { port: 0 })
  const port = Number(new URL(app.url).port)
  const { TMPDIR } = process.env
  process.env['TMPDIR'] = folder.at('tmp')
  try {
    await assert.rejects(startApp(folder.path, { port }), { code: 'PORT_IN_USE' })
    await assert.rejects(startApp(folder.path, { port: 0, host: '203.0.113.7' }), { code: 'CONFIG_INVALID' })
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  }
  assert.deepEqual(readdirSync(folder.at('tmp')), ['.keep'])
})

test('after a reload that could not start the app, errors say so, and the next reload starts it', async () => {
  using folder = new TestFolder({ 'a.mjs': program, 'busbar.config.json': config({ a: './a.mjs' }) })
  await using app = await startApp(folder.path)
  // Another address needs a restart of the whole app.
  folder.write('busbar.config.json', config({ a: './a.mjs', b: './b.mjs' }, 'localhost'))
  folder.write('b.mjs', 'throw new Error("a mistake")')
  await assert.rejects(app.reload(), { code: 'PROGRAM_THREW' })
  assert.throws(() => app.status(), {
    code: 'APP_NOT_RUNNING',
    message: 'a reload has stopped the app, and the new version has not started',
  })
  folder.write('b.mjs', program)
  await app.reload()
  assert.equal(await (await app.fetch('b', '/')).text(), 'served')
})

test('several apps add one listener for the exit of the process', async () => {
  using folder = new TestFolder({ 'index.mjs': program })
  const before = process.listenerCount('exit')
  {
    await using _one = await startApp(folder.path, { port: 0 })
    await using _other = await startApp(folder.path, { port: 0 })
    assert.equal(process.listenerCount('exit'), before + 1)
  }
  assert.equal(process.listenerCount('exit'), before)
})

test('the process of the caller ends by itself after stop, also with a test double', async () => {
  using folder = folderWithBusbar({
    'app/busbar.config.json': { ...config({ web: './web.mjs', stock: './stock' }), stopTimeout: '5m' },
    'app/web.mjs': program,
    'host.mjs': `
      import { startApp } from 'busbar'
      const replace = { stock: (_, response) => response.end() }
      const app = await startApp('./app', { replace })
      await app.fetch('stock', '/')
      await app.stop()
      console.log('stopped')`,
  })
  const host = promisify(execFile)(process.execPath, ['host.mjs'], { cwd: folder.path, timeout: 60_000 })
  assert.equal((await host).stdout, 'stopped\n')
})
