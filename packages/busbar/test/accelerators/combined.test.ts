import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceleratorNames, optInAccelerator } from '../../src/shared/accelerators.ts'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

/**
 * Also serves connections that another server has accepted, by the documented
 * `server.emit('connection')`.
 */
const called = `const http = require('node:http')
const net = require('node:net')
const server = http.createServer((request, response) => {
  if (request.url === '/inner') return void response.end('from inside')
  if (request.url !== '/passed') return void request.pipe(response)
  const passed = net.createServer((socket) => server.emit('connection', socket)).listen(0, '127.0.0.1', () => {
    http.get({ port: passed.address().port, path: '/inner', agent: false }, (answer) => {
      answer.pipe(response)
      passed.close()
    })
  })
})
server.listen(3000)`

const calling = `import http from 'node:http'
import { request } from 'undici'
const url = 'http://called.internal/'
const ways = {
  fetch: async () => await (await fetch(url, { method: 'POST', body: 'by fetch' })).text(),
  undici: async () => await (await request(url, { method: 'POST', body: 'by undici' })).body.text(),
  http: () => new Promise((resolve, reject) => {
    http.request(url, { method: 'POST' }, async (answer) => resolve(await Array.fromAsync(answer, String).then((all) => all.join(''))))
      .on('error', reject).end('by http')
  }),
  passed: async () => await (await fetch(url + 'passed')).text(),
}
http.createServer(async (_, response) => {
  const answers = []
  for (const ask of Object.values(ways)) answers.push(await ask().catch((error) => String(error.cause ?? error)))
  response.end(JSON.stringify(answers))
}).listen(3000)`

const expected = ['by fetch', 'by undici', 'by http', 'from inside']
const names = acceleratorNames.filter((name) => name !== optInAccelerator)

for (const run of ['shared', 'thread', 'process'] as const)
  for (const accelerators of subsets(names))
    test(`${run} programs call each other with ${accelerators.join(', ') || 'no accelerators'}`, async () => {
      const undici = new URL(import.meta.resolve('undici')).href
      using folder = new TestFolder({
        'called/index.js': called,
        'web/index.mjs': calling.replace("'undici'", `'${undici}'`),
      })
      const services = {
        web: { file: folder.at('web/index.mjs'), run },
        called: { file: folder.at('called/index.js'), run },
      }
      const gateway = { entry: undefined, routes: [{ host: undefined, prefix: '/web', service: 'web' }] }
      await using app = await TestApp.start({ accelerators, services, gateway })
      const answer = await fetch(new URL('/web', app.url), { headers: { connection: 'close' } })
      assert.deepEqual([answer.status, await answer.json()], [200, expected])
    })

function subsets<T>(all: readonly T[]): T[][] {
  return Array.from({ length: 2 ** all.length }, (_, set) => all.filter((_each, at) => (set >> at) % 2 === 1))
}
