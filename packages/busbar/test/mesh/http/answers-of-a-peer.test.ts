import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { it } from 'node:test'
import type { ErrorRecord } from '../../../src/contract/errors.ts'
import { answerRequests } from '../../../src/mesh/http/answer-requests.ts'
import { fromRecord, isHeadValue } from '../../../src/mesh/http/wire.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { head, linked, CallRecorder } from '../../support/mesh/links.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'

it('an error of another app becomes one of this one, whatever it has in it', () => {
  const records = [
    { code: 'FROM_LATER', message: 'why' },
    { code: 'toString', message: 'why' },
    { code: ['INPUT_INVALID'], message: 'why' },
    { code: { toString: 1, valueOf: 1 }, message: 'why' },
    { code: 'INTERNAL', message: 'why', data: { name: 'Error', message: { toString: 1 }, code: 'E' } },
    { code: 'INTERNAL', message: 'why', data: { name: { toString: 1 }, message: 'other', code: 'E' } },
  ]
  for (const record of records) {
    const error = fromRecord(record as unknown as ErrorRecord)
    assert.deepEqual([error.message, 'code' in error && error.code], ['why', 'INTERNAL'])
  }
})

it('a head that no server of Node sends is malformed', () => {
  const statuses = [-1, 0, 99, 1000, 200.5, '200']
  const heads = [...statuses.map((status) => [status, 'OK', '']), [200, 'O\r\nK: 1', ''], [200, '漢', ''], [200, 'OK']]
  for (const head of heads) assert.equal(isHeadValue(head), false)
  for (const text of ['', 'OK', 'Très bien\t']) assert.equal(isHeadValue([200, text, '']), true)
})

it('a request whose last field has no value is refused', async () => {
  const router = new Router(['callee'])
  await using endpoint = new TestEndpoint('callee', createServer())
  router.add(endpoint)
  using links = await linked(answerRequests({ router, maxHops: 8, meter: undefined }))
  const call = new CallRecorder()
  links.one.open({ ...head, service: 'callee', kind: 'http', method: 'GET' }, ['/', 'host', null], true, call)
  assert.match((await call.over)?.message ?? '', /the request of a call to service 'callee' was malformed/)
})
