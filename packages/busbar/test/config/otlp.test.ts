import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { TestFolder } from '../support/app/test-folder.ts'

describe('the headers of otlp', () => {
  for (const [what, protocol, headers, message] of [
    ['a line break', 'grpc', { token: 'secret-word\n' }, /^otlp\.headers\.token is .*; allowed is a text of printable/],
    ['a character outside ASCII', 'http/protobuf', { token: 'secret-word €' }, /^otlp\.headers\.token is /],
    ['a name with a space', 'grpc', { 'x token': 'secret-word' }, /the name of a header field has letters/],
    ['a name of bytes over gRPC', 'grpc', { 'token-bin': 'secret-word' }, /^otlp\.headers\.token-bin: over gRPC/],
  ] as const)
    it(`are refused with ${what}, and not shown`, async () => {
      const otlp = { protocol, headers, metrics: false, traces: false }
      using folder = new TestFolder({ 'index.js': '', 'busbar.config.json': { services: { web: '.' }, otlp } })
      await assert.rejects(loadApp(folder.path, { env: {} }), (error: Error & { code: string }) => {
        assert.equal(error.code, 'CONFIG_INVALID')
        assert.match(error.message, message)
        assert.doesNotMatch(JSON.stringify(error) + error.message, /secret/)
        return true
      })
    })
})
