import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { TracedApp } from '../support/traced-app.ts'

const web = `
const http = require('node:http')
const clients = {
  '/fetch': async () => (await fetch('http://tool.internal/')).text(),
  '/http': () => new Promise((resolve) => http.get('http://tool.internal/', (response) => response.resume().on('end', resolve))),
  '/head': async () => (await fetch('http://tool.internal/', { method: 'HEAD' })).text(),
}
http.createServer(async (request, response) => {
  await clients[request.url]()
  response.end()
}).listen(3000)`

const tool = `
require('node:http').createServer((request, response) => {
  response.setHeader('content-length', 58)
  response.end('x'.repeat(58))
}).listen(process.env.PORT)`

for (const [client, received] of [
  ['fetch', 58],
  ['http', 58],
  ['head', 0],
] as const)
  test(`the stated length of a command's answer counts as received by ${client}, over TCP`, async () => {
    using files = new TestFolder({
      'web/index.js': web,
      'tool/index.js': tool,
      'busbar.config.json': {
        gateway: { port: 0, entry: 'web' },
        traces: { sample: 1 },
        services: { web: './web', tool: { path: './tool', command: 'node index.js', pathTemplates: ['/'] } },
      },
    })
    await using app = await TracedApp.start(await loadApp(files.path, { env: process.env }))
    await (await fetch(new URL(`/${client}`, app.url))).text()
    const [trace] = await app.tracesWhen((all) => all.some(({ calls }) => calls.length === 2))
    const call = trace!.calls.find(({ service }) => service === 'tool')
    assert.deepEqual([call?.received, call?.transport, call?.route], [received, 'tcp', '/'])
  })
