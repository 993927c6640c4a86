import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePorts } from '../../../busbar/test/support/http/free-ports.ts'
import { Repository } from '../support/repository.ts'

/** Calls the catalog by the client that the path names. */
const web = (catalog: number): string => `
  const http = require('node:http')
  const { default: axios } = require('axios')
  const { Pool, request } = require('undici')
  const got = import('got')
  const url = 'http://localhost:${catalog}/items'
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const pool = new Pool('http://127.0.0.1:${catalog}', { connections: 1 })
  const clients = {
    fetch: async () => (await fetch(url)).json(),
    agent: () => new Promise((resolve, reject) => http.get(url, { agent }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve(JSON.parse(text))
    }).on('error', reject)),
    axios: async () => (await axios.get(url)).data,
    axiosAgent: async () => (await axios.get(url, { httpAgent: agent })).data,
    got: async () => (await got).got(url).json(),
    undici: async () => (await request(url)).body.json(),
    pool: async () => (await pool.request({ method: 'GET', path: '/items' })).body.json(),
  }
  http.createServer(async (request, response) => {
    const client = clients[request.url.slice(1)]
    const [items, again] = [await client(), await client()]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ items, again }))
  }).listen(process.env.PORT)`

const catalog = `
  require('node:http').createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ url: request.url, host: request.headers.host.replace(/:.*/, '') }))
  }).listen(process.env.PORT)`

const clients = ['fetch', 'agent', 'axios', 'axiosAgent', 'got', 'undici', 'pool']

test('with --rewrite-localhost no client has to be changed, in any placement', async () => {
  const [webPort, catalogPort] = (await freePorts(2)) as [number, number]
  const apps = [
    { name: 'web', script: './web/server.js', env: { PORT: webPort } },
    { name: 'catalog', script: './catalog/server.js', env: { PORT: catalogPort } },
  ]
  using repository = new Repository({
    'ecosystem.config.json': JSON.stringify({ apps }),
    'web/server.js': web(catalogPort),
    'catalog/server.js': catalog,
  })
  symlinkSync(
    fileURLToPath(new URL('../../../../node_modules', import.meta.url)),
    join(repository.path, 'node_modules'),
  )
  const paths = clients.flatMap((client) => ['--path', `/${client}`])
  const { code, report, stderr } = await repository.try('--rewrite-localhost', '--json', ...paths)
  assert.deepEqual(
    report.arms.map(({ name, problem, answers }) => [name, problem, answers.map(({ status }) => status)]),
    ['today', 'process', 'thread', 'shared'].map((name) => [name, null, clients.map(() => 200)]),
    stderr,
  )
  for (const { name, answers } of report.arms)
    for (const { path, differences } of answers) assert.deepEqual(differences, [], `${name}, ${path}`)
  assert.deepEqual([code, report.same], [0, true])
  assert.match(report.text, new RegExp(`localhost: ${catalogPort}`))
})
