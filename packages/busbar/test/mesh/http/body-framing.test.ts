import assert from 'node:assert/strict'
import { it } from 'node:test'
import { bodyFramingOf } from '../../../src/mesh/http/body-framing.ts'

const framingOf = (headers: Record<string, string | string[]>, status = 200, method?: string) =>
  bodyFramingOf({ status, statusText: '', headers }, method)

it('a body ends at its length, with its chunks, or with the connection', () => {
  assert.deepEqual(framingOf({ 'content-length': '5' }), { kind: 'length', length: 5 })
  assert.deepEqual(framingOf({ 'transfer-encoding': 'chunked' }), { kind: 'chunked' })
  assert.deepEqual(framingOf({}), { kind: 'close' })
})

it('a response to HEAD, and one with status 204 or 304, has no body', () => {
  for (const headers of [{}, { 'content-length': '5' }, { 'transfer-encoding': 'chunked' }] as Record<string, string>[])
    for (const [status, method] of [
      [200, 'HEAD'],
      [204, 'GET'],
      [304, undefined],
    ] as const)
      assert.deepEqual(framingOf(headers, status, method), { kind: 'length', length: 0 })
})

it('only the last coding of a body makes it chunks', () => {
  for (const coding of ['chunked', 'gzip, Chunked', 'gzip,chunked', ['gzip', 'chunked']])
    assert.deepEqual(framingOf({ 'transfer-encoding': coding }), { kind: 'chunked' })
  for (const coding of ['gzip', 'chunked, gzip', 'gzip chunked', 'xchunked', ''])
    assert.deepEqual(framingOf({ 'transfer-encoding': coding }), { kind: 'close' })
})

it('a length that is no number, repeated, or beside a coding is malformed', () => {
  for (const length of [
    '',
    '5e0',
    '+5',
    '5.0',
    '5, 5',
    ' 5',
    '9007199254740992',
    '99999999999999999999',
    ['5', '5'],
    ['5', '6'],
  ])
    for (const method of ['GET', 'HEAD']) assert.equal(framingOf({ 'content-length': length }, 200, method), undefined)
  assert.equal(framingOf({ 'content-length': '5', 'transfer-encoding': 'chunked' }), undefined)
})
