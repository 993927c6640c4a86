import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { freePorts } from '../../../busbar/test/support/http/free-ports.ts'
import { Repository, server } from '../support/repository.ts'
import { shop } from '../support/shop.ts'

describe('busbar try, of services as they run today', () => {
  test('answers that are all 404 are not measured, which the page says', async () => {
    using repository = new Repository({
      'server.js': `require('node:http').createServer((request, response) => {
        response.writeHead(request.url === '/items' ? 200 : 404).end()
      }).listen(process.env.PORT ?? 3000)`,
    })
    const said =
      /Not measured: every answer to the requests was a 404\. Give paths that the entry has, by --path or --requests\./
    assert.match((await repository.try()).stdout, said)
    assert.match((await repository.try('--json')).report.notes.join('\n'), said)
    assert.doesNotMatch((await repository.try('--path', '/', '--path', '/items')).stdout, said)
  })

  test('answers that are all faults are no comparison, which the page says', async () => {
    using repository = new Repository({
      'server.js': server('process.env.PORT ?? 3000', '(response.statusCode = 502)'),
    })
    assert.match((await repository.try()).stdout, /Every answer was a 502: start what the services need/)
  })

  test('a workspace of Nx is told from a folder without services', async () => {
    using repository = new Repository({
      'nx.json': '{}',
      'package.json': '{}',
      'compose.yaml': 'services: { db: { image: mongo } }',
    })
    const [stdout, stderr, [code]] = await repository.start('--budget', '0').output
    assert.deepEqual([stdout, code], ['', 3])
    assert.match(stderr, /is a workspace of Nx.*\n.*hint: Build it, and write a Procfile/)
  })

  test('a service that is not built is reported by its file, not by one that is gone', async () => {
    for (const [scripts, hint] of [
      ['"start": "node dist/a.js"', /hint: Build the program first/],
      ['"start": "node dist/a.js", "build": "tsc"', /hint: Build it as you do today, then try again\.$/m],
    ] as const) {
      using repository = new Repository({ 'package.json': `{ "name": "one", "scripts": { ${scripts} } }` })
      const [stdout, stderr, [code]] = await repository.start('--budget', '0').output
      assert.deepEqual([stdout, code], ['', 3])
      assert.match(stderr, /runs dist\/a\.js, which does not exist/)
      assert.match(stderr, hint)
      assert.doesNotMatch(stderr, /busbar-lab-/)
    }
  })

  test('a command is asked at the port on which it listens', async () => {
    const [web, api] = (await freePorts(2)) as [number, number]
    using repository = new Repository({
      'compose.yaml': `services:
  web: { build: ./web, ports: ["${web}:${web}"] }
  api: { build: ./api, command: "node server.js; exit 1", ports: ["${api}:${api}"] }`,
      'web/package.json': '{ "scripts": { "start": "node server.js" } }',
      'web/server.js': server(web, `'web'`),
      'api/package.json': '{}',
      'api/server.js': server(api, `'api'`),
      'requests.json': '[{ "path": "/" }, { "service": "api", "path": "/" }]',
    })
    const { code, report, stderr } = await repository.try(
      '--json',
      '--requests',
      join(repository.path, 'requests.json'),
    )
    assert.equal(code, 0, JSON.stringify(report.arms, undefined, 1) + stderr)
    assert.deepEqual(
      report.arms[0]!.answers.map(({ service, status }) => [service, status]),
      [
        ['web', 200],
        ['api', 200],
      ],
    )
  })

  test('as today, a container finds another by its port', async () => {
    const [web, api] = (await freePorts(2)) as [number, number]
    using repository = new Repository({
      'compose.yaml': `services:
  web: { build: ./web, ports: ["${web}:${web}"], environment: { API_URL: "http://api:${api}/", PORT: ${web} } }
  api: { build: ./api, environment: { PORT: ${api} } }`,
      'web/package.json': '{ "scripts": { "start": "node server.js" } }',
      'web/server.js': server(web, `await (await fetch(process.env.API_URL)).json()`),
      'api/package.json': '{ "scripts": { "start": "node server.js" } }',
      'api/server.js': server(api, `'api'`),
    })
    const { code, report, stderr } = await repository.try('--json')
    assert.deepEqual([code, report.arms.map(({ problem }) => problem)], [0, [null, null, null, null]], stderr)
  })

  test('as today, a service that calls another at its start is started after it', async () => {
    const { files } = await shop((port) => `process.env.CATALOG_URL ?? 'http://localhost:${port}'`)
    const [first, ...lines] = files['web/server.js']!.split('\n')
    files['web/server.js'] =
      `${first}\nfetch(base + '/ready').then(() => {\n${lines.join('\n')}\n}, () => process.exit(3))`
    files['catalog/server.js'] = `setTimeout(() => {\n${files['catalog/server.js']}\n}, 500)`
    using repository = new Repository(files)
    const { report, stderr } = await repository.try('--json')
    assert.deepEqual(
      report.arms.map(({ name, problem }) => [name, problem]),
      ['today', 'process', 'thread', 'shared'].map((name) => [name, null]),
      stderr,
    )
  })

  test('a program that ends at once is reported with its exit code and its last words', async () => {
    const exits = (said: string): Record<string, string> => ({
      'package.json': '{ "name": "main", "main": "server.js" }',
      'server.js': `require('node:http'); ${said}; if (Number(process.env.PORT ?? 3000)) process.exit(3)`,
    })
    using silent = new Repository(exits(''))
    assert.match(
      (await silent.try()).stdout,
      /could not run: as today: today ended before it answered: \(exit code 3\)/,
    )
    using talking = new Repository(exits(`for (let line = 0; line < 9; line++) console.log('line', line)`))
    assert.match(
      (await talking.try()).stdout,
      /today ended before it answered: line 6 \/ line 7 \/ line 8 \(exit code 3\)/,
    )
  })

  test('a port that is in use is reported before anything starts', async () => {
    const { files, ports } = await shop((port) => `'http://localhost:${port}'`)
    using repository = new Repository(files)
    const other = createServer().listen(ports[0], '127.0.0.1')
    await once(other, 'listening')
    const [stdout, stderr, [code]] = await repository.start('--budget', '0').output
    other.close()
    assert.deepEqual([stdout, code], ['', 2])
    assert.match(stderr, new RegExp(`port ${ports[0]} is in use`))
  })
})
