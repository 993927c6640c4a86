/**
 * Servers of programs treat their connections as in plain Node, with connections in memory and
 * without.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { selfSigned } from '../../support/http/certificate.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const closesAndListens = `const server = require('node:http').createServer((request, response) => {
  response.setHeader('connection', 'close')
  if (request.url === '/again') response.once('finish', () => server.close(() => server.listen(3000)))
  response.end('closed ' + closed)
})
let closed = 0
server.on('close', () => closed++).listen(3000)`

const calls = `require('node:http').createServer(async (_, response) => {
  response.end(await (await fetch('http://web.internal/')).text())
}).listen(3000)`

const run = 'thread'

for (const accelerators of [[], [...acceleratorNames]]) {
  const way = accelerators.length === 0 ? 'no accelerators' : 'all accelerators'

  test(`a program that closes its server and listens again is reachable, and closes once, with ${way}`, async () => {
    using folder = new TestFolder({ 'web/index.js': closesAndListens, 'other/index.js': calls })
    const services = {
      web: { file: folder.at('web/index.js'), run },
      other: { file: folder.at('other/index.js'), run },
    } as const
    const gateway = {
      entry: undefined,
      routes: ['web', 'other'].map((service) => ({ host: undefined, prefix: `/${service}`, service })),
    }
    await using app = await TestApp.start({ accelerators, services, gateway })
    const ask = async (path: string): Promise<string> => await (await fetch(new URL(path, app.url))).text()
    assert.equal(await ask('/web/again'), 'closed 0')
    while ((await ask('/web/')) !== 'closed 1');
    for (let time = 0; time < 3; time++) assert.equal(await ask('/web/'), 'closed 1')
    assert.equal(await ask('/other/'), 'closed 1')
  })

  test(`a program that has closed its server is unavailable behind the gateway, with ${way}`, async () => {
    using folder = new TestFolder({
      'web/index.js': `const server = require('node:http').createServer((_, response) => {
          server.close()
          response.end()
        }).listen(3000)
        setInterval(() => {}, 1000)`,
    })
    const routes = [{ host: undefined, prefix: '/', service: 'web' }]
    const services = { web: { file: folder.at('web/index.js') } }
    await using app = await TestApp.start({ accelerators, services, gateway: { entry: undefined, routes } })
    const ask = async (): Promise<number> => (await fetch(app.url, { headers: { connection: 'close' } })).status
    assert.deepEqual([await ask(), await ask()], [200, 503])
  })

  test(`a raw entry that closes its server and listens again closes once, with ${way}`, async () => {
    using folder = new TestFolder({ 'web/index.js': closesAndListens })
    await using app = await TestApp.start({ accelerators, services: { web: { file: folder.at('web/index.js'), run } } })
    const ask = async (path: string): Promise<string> =>
      await (await fetch(new URL(path, app.url))).text().catch(String)
    await ask('/again')
    for (let time = 0; time < 3; time++) assert.equal(await ask('/'), 'closed 1')
  })
}

test('a server with maxConnections 0 drops the connections of its public port', async () => {
  const none = `const server = require('node:http').createServer((_, response) => response.end())
  server.maxConnections = 0
  server.on('drop', ({ localPort }) => console.log('dropped ' + (localPort > 0))).listen(3000)`
  using folder = new TestFolder({ 'web/index.js': none })
  await using app = await TestApp.start({ services: { web: { file: folder.at('web/index.js'), run } } })
  const socket = connectTcp(Number(new URL(app.url).port), '127.0.0.1').on('error', () => {})
  await once(socket, 'close')
  while (!app.log.some(({ line }) => line === 'dropped true')) await new Promise((resolve) => setImmediate(resolve))
})

test('an upgraded connection of an https server ends when its client ends it', async () => {
  const { cert, key } = await selfSigned()
  const program = `const server = require('node:https').createServer(${JSON.stringify({ cert, key })})
  server.on('upgrade', (request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n')
    socket.on('close', () => console.log('closed')).resume()
  }).listen(3000)`
  using folder = new TestFolder({ 'web/index.js': program })
  await using app = await TestApp.start({ services: { web: { file: folder.at('web/index.js'), run } } })
  const socket = connectTls({
    port: Number(new URL(app.url).port),
    host: '127.0.0.1',
    rejectUnauthorized: false,
  })
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  await once(socket, 'data')
  socket.end()
  await once(socket, 'end')
  while (!app.log.some(({ line }) => line === 'closed')) await new Promise((resolve) => setImmediate(resolve))
})
