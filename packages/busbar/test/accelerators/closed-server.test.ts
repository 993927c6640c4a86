import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceleratorNames, optInAccelerator } from '../../src/shared/accelerators.ts'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

// Closed before the answer: with `finish` the next call could come first, and Node ends the
// connection of a call that it has not read.
const closing = `const server = require('node:http').createServer((request, response) => {
  server.close()
  response.setHeader('connection', 'close').end('open')
})
server.listen(4000)
setInterval(() => {}, 1e6)`

const asking = `import http from 'node:http'
http.createServer(async (request, response) => {
  const told = await fetch('http://closing.internal/').then((answer) => answer.text(), (error) => error.cause.message)
  response.end(told)
}).listen(3000)`

const names = acceleratorNames.filter((name) => name !== optInAccelerator)

for (const run of ['shared', 'thread'] as const)
  for (const accelerators of [[], ...names.map((name) => [name]), names])
    test(`${run}: a closed server gets no more calls, with ${accelerators.join(', ') || 'no accelerators'}`, async () => {
      using folder = new TestFolder({ 'closing/index.cjs': closing, 'asking/index.mjs': asking })
      const services = {
        asking: { file: folder.at('asking/index.mjs'), run },
        closing: { file: folder.at('closing/index.cjs'), run },
      }
      const route = (service: string) => ({ host: undefined, prefix: `/${service}`, service })
      const gateway = { entry: undefined, routes: [route('asking'), route('closing')] }
      await using app = await TestApp.start({ accelerators, services, gateway })
      const ask = async (path: string) => {
        const answer = await fetch(new URL(path, app.url), { headers: { connection: 'close' } })
        return [answer.status, await answer.text()] as const
      }
      assert.deepEqual(await ask('/closing'), [200, 'open'])
      const last = await ask('/closing')
      assert.equal(last[0], 503, `answered with ${last[1]}`)
      const refused = "connect ECONNREFUSED closing.internal:80 (service 'closing' is not reachable)"
      assert.deepEqual(await ask('/asking'), [200, refused])
    })
