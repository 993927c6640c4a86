import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePorts } from '../support/http/free-ports.ts'
import { ImportedApp, server, textAt } from './imported-app.ts'

test('busbar import of a Procfile: web is the entry at the port of the platform; scripts are followed; workers are left out', async () => {
  const [api] = (await freePorts(1)) as [number]
  using app = await ImportedApp.from({
    Procfile: [
      '# comment',
      'web: NODE_ENV=production npm start',
      `api: PORT=${api} node api.js --mode fast`,
      'shell: echo starting && PORT=$PORT node shell.js',
      'worker: node worker.js',
      'release: node migrate.js',
      '???',
    ].join('\n'),
    'package.json': { scripts: { start: 'npm run serve', serve: 'node web.js' } },
    'web.js': server('process.env.NODE_ENV'),
    'api.js': server('process.argv[3]'),
    'shell.js': server("'shell'"),
    'worker.js': "const run = require('./lib/run')\nrun()",
    'lib/run.js': 'module.exports = () => setInterval(() => {}, 1000)',
  })
  assert.deepEqual(Object.keys(app.report.config.services), ['web', 'api', 'shell'])
  assert.deepEqual(
    app.report.leftOut.map(({ name }) => name),
    ['worker', 'release'],
  )
  assert.equal(app.reason('line 7'), 'it is not <name>: <command>')
  assert.equal(app.service('shell').command, "sh -c 'echo starting && PORT=$PORT node shell.js'")
  await using started = app.start(['--port', '0'])
  assert.equal(await textAt(await started.url()), 'production')
  assert.equal(await textAt(`http://127.0.0.1:${api}`), 'fast')
})

test('of two lines for web, the first is the entry', async () => {
  using app = await ImportedApp.from({
    Procfile: 'web: node one.js\nweb: node other.js',
    'one.js': server("'one'"),
    'other.js': server("'other'"),
  })
  assert.deepEqual(
    [Object.keys(app.report.config.services), app.report.config.gateway?.entry],
    [['web', 'web-2'], 'web'],
  )
})
