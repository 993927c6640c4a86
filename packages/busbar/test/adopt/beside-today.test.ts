import assert from 'node:assert/strict'
import { test } from 'node:test'
import { besideToday } from '../../src/adopt/trying/beside-today.ts'

const call = {
  from: 'web',
  to: 'api',
  where: 'web/server.js:1',
  address: 'http://localhost:3001',
  instead: 'http://api.internal',
  atLocalhost: true,
}
const config = {
  gateway: { port: 3000, entry: 'web' },
  services: { web: './web', api: { path: './api', expose: 3001, localhost: 3001 } },
}

test('beside the services of today no port is opened but the gateway’s, and calls stay captured', () => {
  assert.deepEqual(besideToday(config, [call], true), {
    possible: true,
    config: { ...config, services: { web: './web', api: { path: './api', localhost: 3001 } } },
  })
})

test('a call by port that nothing captures would reach the services of today, one by a variable would not', () => {
  const found = besideToday(config, [call], false)
  assert.match(found.possible ? '' : found.why, /^web calls api at http:\/\/localhost:3001\b.*--rewrite-localhost/)
  const variable = { name: 'API_URL', value: call.instead }
  assert.equal(besideToday(config, [{ ...call, variable }], false).possible, true)
})

test('a command that listens at a port of its own cannot run twice, one without can', () => {
  const services = (port: object) => ({ services: { web: './web', jobs: { command: './jobs.sh', ...port } } })
  const found = besideToday(services({ port: 3002 }), [], true)
  assert.equal(found.possible ? '' : found.why, 'jobs is a command that listens on port 3002 itself')
  assert.equal(besideToday(services({}), [], true).possible, true)
})
