/** What clients send comes to a shared program as its own event: with its environment. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/** Answers with its variable, which it reads when a body has ended or a message has come. */
const program = `
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.end(process.env.WHO))
})
new WebSocketServer({ server }).on('connection', (socket) => {
  socket.on('message', () => socket.send(String(process.env.WHO)))
})
server.listen(process.env.PORT ?? 3000)`

for (const accelerators of ['all', 'none'])
  test(`a shared program reads its own environment in events of its clients, accelerators: ${accelerators}`, async () => {
    using folder = new TestFolder({
      'one.mjs': program,
      'two.mjs': program,
      'busbar.config.json': {
        accelerators,
        gateway: { port: 0, routes: { '/one': 'one', '/two': 'two' } },
        services: {
          one: { path: './one.mjs', run: 'shared', env: { WHO: 'first' } },
          two: { path: './two.mjs', run: 'shared', env: { WHO: 'second' } },
        },
      },
    })
    symlinkSync(dirname(dirname(createRequire(import.meta.url).resolve('ws/package.json'))), folder.at('node_modules'))
    await using app = await TestApp.startLoaded(await loadApp(folder.path))
    for (const [path, who] of [
      ['/one', 'first'],
      ['/two', 'second'],
    ]) {
      const url = `${app.url}${path}`
      const response = await fetch(url, { method: 'POST', body: 'x'.repeat(300_000) })
      assert.equal(await response.text(), who)
      const socket = new WebSocket(url.replace('http', 'ws'))
      socket.addEventListener('open', () => socket.send('who?'))
      const [{ data }] = (await once(socket, 'message')) as [MessageEvent]
      assert.equal(data, who)
      socket.close()
      await once(socket, 'close')
    }
  })
