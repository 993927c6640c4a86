import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { describe, it } from 'node:test'
import { findLocalCalls, withServiceNames } from '../../src/adopt/trying/local-calls.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const backends = '["http://localhost:3001","http://127.0.0.1:3002"]'

describe('calls at ports of this machine', () => {
  it('are all replaced by names in a variable that has several', async () => {
    using folder = new TestFolder({
      'web/index.js': `const all = process.env.ALL ?? 'ws://localhost:3001,ws://localhost:3002'`,
    })
    const config = { services: { web: { path: './web', env: { BACKENDS: backends } }, a: './a', b: './b' } }
    const services = [{ name: 'web', path: `${folder.path}/web`, entry: `${folder.path}/web/index.js` }]
    const calls = await findLocalCalls({ root: folder.path, config, services, ports: { web: 3000, a: 3001, b: 3002 } })
    assert.deepEqual(
      calls.map(({ to, where }) => [to, where]),
      [
        ['a', 'services.web.env.BACKENDS'],
        ['b', 'services.web.env.BACKENDS'],
        ['a', 'web/index.js:1'],
        ['b', 'web/index.js:1'],
      ],
    )
    assert.deepEqual(withServiceNames(config, calls).services?.['web'], {
      path: './web',
      env: { BACKENDS: '["http://a.internal","http://b.internal"]', ALL: 'ws://a.internal,ws://b.internal' },
    })
  })

  it('are those of the service whose folder has them, not of a command above', async () => {
    using folder = new TestFolder({ 'web/config.js': `module.exports = 'http://localhost:3001'`, 'run.js': '' })
    const config = { services: { all: { command: 'make run' }, web: './web', a: './a' } }
    const services = [
      { name: 'all', path: folder.path, entry: undefined },
      { name: 'web', path: `${folder.path}/web`, entry: undefined },
    ]
    const calls = await findLocalCalls({ root: folder.path, config, services, ports: { all: 3000, a: 3001 } })
    assert.deepEqual(
      calls.map(({ from, to }) => [from, to]),
      [['web', 'a']],
    )
  })

  it('may have the name of the machine or another of its addresses, which localhost in the config does not cover', async () => {
    using folder = new TestFolder({
      'web.js': `['http://[::1]:3001', 'http://0.0.0.0:3001', 'http://${hostname()}:3001', 'http://elsewhere.example:3001']`,
    })
    const services = [{ name: 'web', path: folder.path, entry: `${folder.path}/web.js` }]
    const config = { services: { web: '.', a: './a' } }
    const calls = await findLocalCalls({ root: folder.path, config, services, ports: { web: 3000, a: 3001 } })
    assert.deepEqual(
      calls.map(({ address, atLocalhost }) => [address, atLocalhost]),
      [
        ['http://[::1]:3001', true],
        ['http://0.0.0.0:3001', false],
        [`http://${hostname()}:3001`, hostname() === 'localhost'],
      ],
    )
  })
})
