import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { it } from 'node:test'
import type { ErrorRecord } from '../../../src/contract/errors.ts'
import { answerRequests } from '../../../src/mesh/http/answer-requests.ts'
import { areFields, fromRecord, isTrailers, readHead, readRequest } from '../../../src/mesh/http/wire.ts'
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
  for (const head of heads) assert.equal(isHead(head), false)
  for (const text of ['', 'OK', 'Très bien\t']) assert.equal(isHead([200, text, '']), true)
})

const fields = (...texts: string[]): string => texts.join('\u007f')

it('a head whose fields no HTTP message has is malformed', () => {
  const faulty = [fields('a'), fields('a', 'b', 'c'), fields('', 'b'), fields('a b', 'c'), fields('a:', 'c')]
  const lines = [
    ...faulty,
    fields('a', 'b\r\nc: d'),
    fields('a\nb', 'c'),
    fields('a', '漢'),
    fields('a', '\0'),
    5,
    null,
  ]
  for (const one of lines) assert.equal(isHead([200, 'OK', one, 'x', null]), false, String(one))
  for (const one of ['', fields('a', ''), fields('a', '\tü'), fields("x-!#$%&'*+.^_`|~0", 'b', 'a', 'b, c')])
    assert.equal(isHead([200, 'OK', one, 'x', null]), true, one)
})

it('trailers that are null are none, and others are fields', () => {
  const head = [200, 'OK', '', 'x']
  for (const trailers of [undefined, null, {}, { a: 'b' }, { a: ['b', 'c'] }])
    assert.equal(isHead([...head, trailers]), true)
  const lists = [['a', 'b'], [['a', 'b']], new Uint8Array(2), new Map([['a', 'b']]), new Date(0)]
  const records = [
    { a: null },
    { a: 5 },
    { a: [['b']] },
    { '': 'b' },
    { a: 'b\n' },
    { 'a\r\nb': 'c' },
    { a: 'b\u007fc\u007fd' },
  ]
  for (const trailers of [5, 'a', true, ...lists, ...records]) {
    assert.equal(isTrailers(trailers, Infinity), false)
    assert.equal(isHead([...head, trailers]), false)
  }
})

it('trailers of a request are names and values', () => {
  for (const given of [[], ['a', 'b'], ['a', '', 'a', 'c']]) assert.equal(areFields(given), true)
  const faulty = [5, 'ab', {}, ['a'], [''], ['a', 5], ['a', 'b\u007fc'], ['a', 'b\r\n'], [['a', 'b'], 'c']]
  for (const given of faulty) assert.equal(areFields(given), false)
})

it('many fields are checked, too', () => {
  const many = `${fields('a', 'b', '').repeat(2_000_000)}${fields('a', 'b')}`
  assert.deepEqual([isHead([200, '', many]), isHead([200, '', `${many}\n`])], [true, false])
})

it('fields and trailers have at most as many characters as the limit allows', () => {
  const head = [200, 'OK', fields('name', 'value', 'n', '')]
  assert.deepEqual([isHead(head, 10), isHead(head, 9)], [true, false])
  const trailers = { name: 'value', n: ['a', 'b'] }
  assert.deepEqual([isTrailers(trailers, 13), isTrailers(trailers, 12)], [true, false])
  assert.deepEqual(
    [isHead([200, 'OK', '', 'x', trailers], 13), isHead([200, 'OK', '', 'x', trailers], 12)],
    [true, false],
  )
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

it('a request that no client of Node sends is malformed', () => {
  for (const path of ['/a b', '/a\n', '/a\u007f', '/a\u0100', 1, null])
    assert.equal(readRequest([path, '', null]), undefined)
  assert.deepEqual(readRequest(['/ä?x', 'a\u007fb', 'body']), { path: '/ä?x', rawHeaders: ['a', 'b'], body: 'body' })
})

function isHead(value: unknown, limit = Infinity): boolean {
  return readHead(value, limit) !== undefined
}
