import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Repository, server } from '../support/repository.ts'

const lock = `require('node:fs').writeFileSync('server.lock', String(process.pid), { flag: 'wx' })`
const unlock = `process.once('SIGTERM', () => { require('node:fs').rmSync('server.lock'); process.exit() })`

function locking(atSigterm: string): Repository {
  return new Repository({
    'package.json': '{ "name": "main", "main": "server.js" }',
    'server.js': `${lock}\n${atSigterm}\n${server('process.env.PORT ?? 3000', '1')}`,
  })
}

describe('services that busbar try has started', () => {
  test('end by their own handlers of SIGTERM, so that the next start finds no lock file', async () => {
    using repository = locking(unlock)
    const before = repository.files()
    const { code, report, stderr } = await repository.try('--json')
    const problems = report.arms.map(({ problem }) => problem)
    assert.deepEqual([code, problems, repository.files()], [0, problems.map(() => null), before], stderr)
  })

  test('are killed if they ignore SIGTERM', async () => {
    using repository = locking(`process.on('SIGTERM', () => {}); require('node:fs').rmSync('server.lock')`)
    const { code, stderr } = await repository.try('--json')
    assert.equal(code, 0, stderr)
  })
})
