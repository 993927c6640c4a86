import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withFoundPorts } from '../../src/adopt/trying/found-ports.ts'

test('a port that showed when services ran is opened for a program, and is where a command listens', () => {
  const config = { services: { web: './web', api: './api', jobs: { command: 'python3 jobs.py' } } }
  assert.deepEqual(withFoundPorts(config, 'web', { web: 3000, api: 3001, jobs: 3002 }), {
    gateway: { port: 3000 },
    services: {
      web: './web',
      api: { path: './api', expose: 3001 },
      jobs: { command: 'python3 jobs.py', port: 3002 },
    },
  })
})

test('a command that is the entry listens at its port, and the gateway at another', () => {
  const config = { services: { web: { command: './run.sh' }, api: { path: './api', expose: 3001 } } }
  assert.deepEqual(withFoundPorts(config, 'web', { web: 3000 }).gateway, { port: 3002 })
  assert.equal(withFoundPorts(config, 'web', { web: 4000 }).gateway, undefined)
})
