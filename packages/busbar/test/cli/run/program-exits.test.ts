import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/** As NestJS does with `enableShutdownHooks()`. */
const program = `
  const server = require('node:http').createServer((_, response) => response.end('ok')).listen(3000)
  process.on('exit', (code) => console.log('exits with ' + code))
  process.on('SIGTERM', async function stop() {
    try {
      await new Promise((done) => server.close(done))
      process.off('SIGTERM', stop)
      console.log('stops')
      process.kill(process.pid, 'SIGTERM')
    } catch (error) {
      console.error('Error happened during shutdown', error)
      process.exit(1)
    }
  })`

test('a program that ends itself by a signal when it stops logs no error, wherever it runs', async () => {
  const runs = ['shared', 'thread', 'process']
  using folder = new TestFolder({
    'busbar.config.json': {
      gateway: { port: 0, entry: 'shared' },
      services: Object.fromEntries(runs.map((run) => [run, { path: `./${run}`, run }])),
    },
    ...Object.fromEntries(runs.map((run) => [`${run}/index.js`, program])),
  })
  await using app = new BusbarProcess(['start', '--once', folder.path])
  await app.url()
  app.child.kill('SIGTERM')
  const { code, stderr } = await app.ended
  assert.deepEqual([code, stderr], [0, ''])
  for (const run of runs) {
    const lines = app.events.filter(({ service, stream }) => service === run && stream !== 'busbar')
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['stops', 'exits with 143'],
      run,
    )
  }
  assert.doesNotMatch(app.stdout, /Error happened/)
})
