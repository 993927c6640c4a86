import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { freePorts } from '../../../busbar/test/support/http/free-ports.ts'
import { Repository, server } from '../support/repository.ts'

describe('busbar try learns from its runs', () => {
  test('a command that listens at a port of its own runs under Busbar too', async () => {
    const [port] = (await freePorts(1)) as [number]
    using repository = new Repository({
      'package.json': '{ "name": "own", "scripts": { "start": "sh run.sh" } }',
      'run.sh': 'exec node server.js',
      'server.js': server(`Number('${port}')`, `'own'`),
    })
    const { code, report, stderr } = await repository.try('--json')
    assert.deepEqual(
      report.arms.map(({ name, problem }) => [name, problem]),
      [
        ['today', null],
        ['process', null],
      ],
      stderr,
    )
    assert.equal(code, 0)
    assert.match(report.text, new RegExp(`port: ${port}`))
  })

  test('services that listen elsewhere than PORT says are known by their processes, and one that opens no port is left out', async () => {
    const [webPort, apiPort] = (await freePorts(2)) as [number, number]
    const apps = ['api', 'jobs', 'web'].map((name) => ({ name, script: `./${name}/server.js` }))
    using repository = new Repository({
      'ecosystem.config.json': JSON.stringify({ apps }),
      'web/server.js': server(`Number('${webPort}')`, `'web'`),
      'api/server.js': server(`Number('${apiPort}')`, `'api'`),
      'jobs/server.js': `require('node:http'); setInterval(() => {}, 1000)`,
    })
    const { code, report, stderr } = await repository.try('--json')
    assert.deepEqual([code, report.arms.map(({ problem }) => problem)], [0, [null, null, null, null]], stderr)
    assert.match(report.text, new RegExp(`gateway: { entry: 'web', port: ${webPort} }`))
    assert.match(report.text, new RegExp(`expose: ${apiPort}`))
    assert.match(report.text, /Left out: jobs: it ran and opened no port/)
    assert.doesNotMatch(report.text, /jobs:.*path/)
  })

  test('of services that call each other, the one that does not start alone starts after the other', async () => {
    const [webPort, apiPort] = (await freePorts(2)) as [number, number]
    const apps = [
      { name: 'api', script: './api/server.js', env: { PORT: apiPort } },
      { name: 'web', script: './web/server.js', env: { PORT: webPort } },
    ]
    const get = (port: number): string => `await (await fetch('http://localhost:${port}/self')).json()`
    using repository = new Repository({
      'ecosystem.config.json': JSON.stringify({ apps }),
      'api/server.js': server('process.env.PORT', `request.url === '/self' ? 'api' : ${get(webPort)}`),
      // Today it tries again until the other answers. Busbar starts the other first.
      'web/server.js': `
        const { setTimeout: sleep } = require('node:timers/promises')
        const underBusbar = String(process.env.NO_PROXY).includes('.internal')
        const call = async () => (await fetch('http://localhost:${apiPort}/self')).json()
        const alive = setInterval(() => {}, 1000)
        const start = async (tries) => {
          try { return await call() } catch (error) { if (underBusbar || tries === 0) throw error }
          await sleep(100)
          return start(tries - 1)
        }
        start(100).then((found) => {
          clearInterval(alive)
          ${server('process.env.PORT', 'found')}
        })`,
    })
    const { code, report, stderr } = await repository.try('--rewrite-localhost', '--json')
    const problems = report.arms.map(({ problem }) => problem)
    assert.deepEqual([code, problems], [0, [null, null, null, null]], stderr)
    assert.match(report.text, /needs: \['api'\]/)
  })
})
