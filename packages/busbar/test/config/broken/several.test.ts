import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BusbarError } from '../../../src/contract/errors.ts'
import { failure, program } from '../../support/app/config-failures.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

describe('a config with several faults', () => {
  it('reports all of them at once, each once', async () => {
    using folder = new TestFolder({
      'web/index.js': program,
      'busbar.config.json': {
        workerz: 2,
        gateway: {
          prot: 1,
          port: '${NOPE}',
          routes: { '/a': 'wbe', '/b*': 'web' },
          tls: { cert: 'c.pem', key: 'k.pem' },
        },
        services: {
          web: { path: './wed', run: 'thread', needs: ['stock', 1, 2], expose: { port: 'x' } },
          stock: { path: './web', needs: ['web'], memory: '1', startTimeout: 'x' },
          far: { remote: 'http://10.0.0.7:1' },
          Bad: './web',
        },
      },
    })
    const error = await failure(folder.path, {})
    const found = (error.cause as AggregateError).errors as BusbarError[]
    assert.deepEqual(found.map(({ code }) => code).toSorted(), [
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_KEY_UNKNOWN',
      'CONFIG_KEY_UNKNOWN',
      'CONFIG_VARIABLE_MISSING',
      'NEEDS_CYCLE',
      'ROUTE_UNKNOWN_SERVICE',
      'SERVICE_NAME_INVALID',
      'SERVICE_NOT_FOUND',
      'TLS_FILE_UNREADABLE',
    ])
    assert.equal(error.code, found[0]?.code)
    for (const { code, message } of found) assert.ok(error.message.includes(`${code}: ${message}`))
    assert.match(error.message, /^15 problems in .*busbar\.config\.json:\n/)
  })

  it('does not report a broken service as unknown', async () => {
    using folder = new TestFolder({
      'web/index.js': program,
      'busbar.config.json': {
        services: { web: { path: './web', needs: ['stock'] }, stock: 1 },
        gateway: { entry: 'stock' },
      },
    })
    const error = await failure(folder.path, {})
    assert.equal(error.code, 'CONFIG_INVALID')
    assert.match(error.message, /^services\.stock is 1/)
  })
})
