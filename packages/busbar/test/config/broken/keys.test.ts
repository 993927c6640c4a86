import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { app, failure, gateway, refused, web } from '../../support/app/config-failures.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

refused('keys', [
  {
    what: 'a wrong key at the top',
    config: { ...app, worker: 1 },
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['worker is not a key', 'nearest is workers'],
  },
  {
    what: 'a wrong key for restarts',
    config: { ...app, maxRestart: 5 },
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['maxRestart is not a key', 'nearest is maxRestarts'],
  },
  {
    what: 'a wrong key of the gateway',
    config: gateway({ prot: 1 }),
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['gateway.prot', 'nearest is gateway.port'],
  },
  {
    what: 'a wrong key of a service',
    config: web({ startTimout: 1 }),
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['services.web.startTimout', 'nearest is services.web.startTimeout'],
  },
  {
    what: 'a wrong key of expose',
    config: web({ expose: { prt: 1, port: 1 } }),
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['services.web.expose.prt', 'services.web.expose.port'],
  },
  {
    what: 'a port for metrics without a token',
    config: { ...app, admin: { port: 9464 } },
    code: 'CONFIG_INVALID',
    says: ['admin.token', 'at least 16 characters'],
  },
  {
    what: 'a token that is soon guessed',
    config: { ...app, admin: { port: 9464, token: 'secret' } },
    code: 'CONFIG_INVALID',
    says: ['admin.token'],
  },
  {
    what: 'a port for metrics that is the gateway’s',
    config: { ...app, gateway: { port: 3000 }, admin: { port: 3000, token: '0123456789abcdef' } },
    code: 'PORT_DUPLICATE',
    says: ['gateway.port', 'admin.port'],
  },
  {
    what: 'a key in the wrong place',
    config: { ...app, port: 1 },
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['port is not a key', 'gateway.port'],
  },
  {
    what: 'a key that is like no other',
    config: { ...app, xylophone: 1 },
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['xylophone', 'workers, accept'],
  },
  { what: 'a key that needs quotes', config: { ...app, 'a b': 1 }, code: 'CONFIG_KEY_UNKNOWN', says: ['["a b"]'] },
])

describe('a secret', () => {
  const token = 'hunter2-hunter2'
  const texts = {
    'too short': JSON.stringify({ services: {}, admin: { port: 1, token: token.slice(0, 9) } }),
    'a number': JSON.stringify({ services: {}, admin: { port: 1, token: 424_242 } }),
    'in a line that is no JSON': `{ "admin": { "token": "${token}" "port": 1 } }`,
  }
  for (const [what, text] of Object.entries(texts))
    it(`is not shown: ${what}`, async () => {
      using folder = new TestFolder({ 'busbar.config.json': text })
      const error = await failure(folder.path, {})
      assert.match(error.message, /token/)
      assert.doesNotMatch(`${error.message} ${error.stack} ${error.hint}`, /hunter2|424242/)
    })
})
