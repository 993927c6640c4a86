/** Probes on the admin socket and port. Those of the gateway are in `gateway/probes.test.ts`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { listSockets } from '../../src/supervisor/admin/admin-socket.ts'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const any = `${import.meta.dirname}/programs/any.js`

const slowProgram = `
import { createServer } from 'node:http'
setTimeout(() => createServer((_, response) => response.end('fine')).listen(3000), 1000)`

async function statusAt(socketPath: string, path: string): Promise<number> {
  const sent = request({ socketPath, path, headers: { connection: 'close' } }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode!
}

test('the admin port answers probes without the token, and nothing else', async () => {
  const admin = { host: '127.0.0.1', port: 0, token: 'a token for this test' }
  await using app = await TestApp.start({ services: { any }, admin })
  const url = app.running.adminUrls[0]!
  const answers: [string, number, string][] = []
  for (const path of [
    '/healthz',
    '/readyz',
    '/healthz/any',
    '/readyz/any',
    '/readyz/none',
    '/healthz/any%2f',
    '/status',
  ]) {
    const response = await fetch(url + path, { headers: { connection: 'close' } })
    answers.push([path, response.status, (await response.text()).slice(0, 3)])
  }
  assert.deepEqual(answers, [
    ['/healthz', 200, 'ok\n'],
    ['/readyz', 200, 'ok\n'],
    ['/healthz/any', 200, 'ok\n'],
    ['/readyz/any', 200, 'ok\n'],
    ['/readyz/none', 404, '{"t'],
    ['/healthz/any%2f', 404, '{"t'],
    ['/status', 401, '{"t'],
  ])
})

test('an app is ready while it is reloaded, also where a new worker listens before it takes over', async () => {
  using folder = new TestFolder({ 'slow.mjs': slowProgram })
  const slow = { file: folder.at('slow.mjs'), run: 'thread' } as const
  const gateway = { probes: true, routes: [{ host: undefined, prefix: '/any', service: 'any' }] }
  await using app = await TestApp.start({ services: { any, slow }, accept: 'reusePort', gateway })
  const seen = new Set<number>()
  let isReloading = true
  const probing = (async () => {
    while (isReloading) seen.add((await fetch(`${app.url}/readyz`, { headers: { connection: 'close' } })).status)
  })()
  await app.running.replace()
  isReloading = false
  await probing
  assert.deepEqual([...seen], [200])
})

test('an app is not ready while it starts and stops, and alive throughout', async () => {
  using folder = new TestFolder({ 'slow.mjs': slowProgram })
  const adminFolder = folder.at('run')
  const { promise: begun, resolve: begins } = Promise.withResolvers<void>()
  const seen: string[] = []
  const ask = async (): Promise<void> => {
    const [socket] = await listSockets(adminFolder)
    for (const path of ['/healthz', '/readyz', '/readyz/slow'])
      seen.push(`${path} ${await statusAt(socket!.path, path)}`)
  }
  const services = { slow: folder.at('slow.mjs') }
  const starting = TestApp.start({ services, stopDelay: 1500 }, { adminFolder, on: () => begins() })
  await begun
  await ask()
  await using app = await starting
  await ask()
  const stopped = app.running.stop()
  await ask()
  await stopped
  assert.deepEqual(seen, [
    '/healthz 200',
    '/readyz 503',
    '/readyz/slow 503',
    '/healthz 200',
    '/readyz 200',
    '/readyz/slow 200',
    '/healthz 200',
    '/readyz 503',
    '/readyz/slow 503',
  ])
})
