import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hostPrograms } from './support/hosted-app.ts'

suite('a captured listen()', () => {
  test('behaves as a real one, and opens no port', async () => {
    await using app = await hostPrograms({ it: 'listening', other: 'koa' })
    const report = (await app.json('it')) as Record<string, unknown>
    assert.deepEqual(report, {
      returnsItself: true,
      atOnce: true,
      order: ['after', 'event', 'callback'],
      address: ['::', 'IPv6'],
      plausiblePort: true,
      twice: 'ERR_SERVER_ALREADY_LISTEN',
      rival: ['EADDRINUSE', 'listen', '::', true, false, null],
      next: '127.0.0.1',
      connections: 0,
      closed: [false, null],
      again: true,
      path: '/tmp/busbar-never-made.sock',
      raw: 'raw',
      refused: 'ECONNREFUSED',
    })
  })

  test('does not conflict with the same port in another program', async () => {
    await using app = await hostPrograms({ one: 'koa', two: 'node-http' })
    assert.deepEqual([app.report('one').listens, app.report('two').listens], ['[::]:3000', '[::]:3000'])
  })

  test('during a request belongs to the same program', async () => {
    await using app = await hostPrograms({ one: 'nested', two: 'koa' })
    assert.deepEqual(await app.json('one'), { port: 3001 })
    await app.line(/listens on port 3000 and on port 3001/)
  })
})

suite('a program that listens on two ports', () => {
  const warning = /port 9090 and on port 3000.*services\.it\.port/

  test('is served by the first one, with a warning that shows how to choose', async () => {
    await using app = await hostPrograms({ it: 'two-ports' })
    assert.deepEqual(await app.json('it'), { port: 9090 })
    assert.match(app.report('it').warnings.join(), warning)
    const { level, service } = await app.line(warning)
    assert.deepEqual([level, service], ['warn', 'it'])
  })

  test('is served by the port in the config', async () => {
    await using app = await hostPrograms({ it: { program: 'two-ports', port: 3000 } })
    assert.deepEqual(await app.json('it'), { port: 3000 })
    assert.equal(app.report('it').listens, '[::]:3000')
  })

  test('logs the warning if the second one opens after the start', async () => {
    await using app = await hostPrograms({ it: { program: 'two-ports', env: { DELAY: '100' } } })
    const { level, service } = await app.line(warning)
    assert.deepEqual([level, service], ['warn', 'it'])
    assert.deepEqual(app.report('it').warnings, [])
  })
})

suite('a program that exports its app and listens by itself', () => {
  test('is served by its own server, for which the start waits', async () => {
    await using app = await hostPrograms({ it: 'export-and-listen' })
    assert.deepEqual(await app.json('it'), { hello: 'export-and-listen', connected: true })
    assert.equal(app.report('it').listens, '[::]:4321')
  })
})

suite('an exported fetch handler', () => {
  test('streams request and response bodies and keeps all headers', async () => {
    await using app = await hostPrograms({ it: 'export-fetch' })
    const url = `http://127.0.0.1:${app.portOf('it')}`
    const echoed = await fetch(`${url}/echo`, { method: 'PUT', body: 'x'.repeat(200_000) })
    assert.equal(echoed.headers.get('x-method'), 'PUT')
    assert.equal((await echoed.text()).length, 200_000)
    const cookies = await fetch(`${url}/cookies`)
    assert.deepEqual([cookies.status, cookies.headers.getSetCookie()], [204, ['a=1', 'b=2']])
    const head = await fetch(url, { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'application/json'])
  })

  test('answers 500 when it throws, and logs the error', async () => {
    await using app = await hostPrograms({ it: 'export-fetch' })
    assert.equal((await app.get('it', '/broken')).status, 500)
    assert.equal(app.lines('it', 'stderr')[0], 'Error: broken on purpose')
  })

  test('gets its variables as the second argument', async () => {
    await using app = await hostPrograms({ it: { program: 'export-fetch', env: { GREETING: 'hi' } } })
    assert.equal(await (await app.get('it', '/env')).text(), 'hi')
  })
})
