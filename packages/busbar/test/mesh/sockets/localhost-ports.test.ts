import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { freePorts } from '../../support/http/free-ports.ts'

const { resolve } = createRequire(import.meta.url)

/** Calls the port of the path by several clients, and answers with what each got. */
const caller = `
  const http = require('node:http')
  const { default: axios } = require(${JSON.stringify(resolve('axios'))})
  const undici = require(${JSON.stringify(resolve('undici'))})
  const { execFile } = require('node:child_process')
  const code = "fetch(process.argv[1]).then(async (one) => process.stdout.write(await one.text()), (error) => process.stdout.write(error.cause.code))"
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const pool = new undici.Agent({ connections: 1 })
  const clients = {
    axios: async (url) => (await axios.get(url)).data,
    axiosAgent: async (url) => (await axios.get(url, { httpAgent: agent })).data,
    undici: async (url) => (await undici.request(url)).body.text(),
    pool: async (url) => (await undici.request(url, { dispatcher: pool })).body.text(),
    fetch: async (url) => (await fetch(url)).text(),
    http: (url) => new Promise((resolve, reject) => http.get(url, { agent: false }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve(text)
    }).on('error', reject)),
    child: (url) => new Promise((resolve) => execFile(process.execPath, ['-e', code, url], (_, out) => resolve(out))),
  }
  http.createServer(async (request, response) => {
    const answers = {}
    for (const [name, client] of Object.entries(clients))
      answers[name] = await client(request.url.slice(1)).catch((error) => error.cause?.code ?? error.code)
    response.end(JSON.stringify(answers))
  }).listen(process.env.PORT ?? 3000)`

const clients = ['fetch', 'http', 'child', 'axios', 'axiosAgent', 'undici', 'pool']
const all = (answer: string): unknown => Object.fromEntries(clients.map((client) => [client, answer]))

async function startApp(run: string, port: number, folder: TestFolder): Promise<BusbarProcess> {
  const web = run === 'command' ? { command: `'${process.execPath}' web/index.js` } : { path: './web', run }
  folder.write('busbar.config.json', {
    gateway: { port: 0, entry: 'web' },
    services: { web, catalog: { path: './catalog', localhost: port } },
  })
  return new BusbarProcess(['start', folder.path])
}

describe('a port of localhost that stands for a service', () => {
  for (const run of ['shared', 'thread', 'process', 'command'])
    test(`is called through the mesh by every client of a service: ${run}`, async () => {
      using folder = new TestFolder({
        'web/index.js': caller,
        'catalog/index.js': `require('node:http').createServer((request, response) => response.end(request.headers.host + request.url)).listen(3001)`,
      })
      const [port, other] = (await freePorts(2)) as [number, number]
      await using app = await startApp(run, port, folder)
      const ask = async (url: string): Promise<unknown> => (await fetch(`${await app.url()}/${url}`)).json()
      for (const host of ['localhost', '127.0.0.1']) {
        const expected = `${host}:${port}/items?a=1`
        assert.deepEqual(await ask(`http://${host}:${port}/items?a=1`), all(expected))
        // Over connections that are kept.
        assert.deepEqual(await ask(`http://${host}:${port}/items?a=1`), all(expected))
      }
      assert.deepEqual(await ask(`http://127.0.0.1:${other}/items`), all('ECONNREFUSED'))
      await assert.rejects(fetch(`http://127.0.0.1:${port}/`), 'the port is not open')
    })

  test('is refused for two services', async () => {
    using folder = new TestFolder({
      'busbar.config.json': {
        services: { a: { path: './a', localhost: 3001 }, b: { path: './b', localhost: [3001] } },
      },
      'a/index.js': '',
      'b/index.js': '',
    })
    const { code, stderr } = await BusbarProcess.run(['check', folder.path])
    assert.equal(code, 3)
    assert.match(stderr, /services\.a\.localhost and services\.b\.localhost are both 3001 .*\(PORT_DUPLICATE\)/)
  })
})
