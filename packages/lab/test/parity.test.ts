import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completed, differences, likenessOf, type Answer } from '../src/protocol/parity.ts'

const answer: Answer = { status: 200, body: 'hello', headers: { 'content-type': 'text/plain', date: 'now' } }
const like = (change: Partial<Answer> = {}) => likenessOf([{ ...answer, ...change }])
const withHeaders = (headers: Record<string, string>) => like({ headers: { ...answer.headers, ...headers } })

test('equal answers are alike, whatever their connections do', () => {
  assert.deepEqual(differences(like(), like(), false), [])
  const other = withHeaders({
    date: 'later',
    connection: 'keep-alive',
    'keep-alive': 'timeout=5',
    'transfer-encoding': 'chunked',
  })
  assert.deepEqual(differences(other, like(), false), [])
})

test('every difference is named', () => {
  assert.deepEqual(differences(like({ status: 201 }), like(), false), ["its status is 201, the baseline's 200"])
  assert.deepEqual(differences(like({ body: 'hell' }), like(), false), [`its body is "hell", the baseline's "hello"`])
  assert.deepEqual(differences(withHeaders({ etag: 'x' }), like(), false), [`its etag is "x", the baseline's missing`])
  assert.deepEqual(differences(like(), withHeaders({ etag: 'x' }), false), [`its etag is missing, the baseline's "x"`])
  assert.deepEqual(differences(withHeaders({ 'content-type': 'text/html' }), like(), false), [
    `its content-type is "text/html", the baseline's "text/plain"`,
  ])
})

test('what varies within one arm is no difference between two', () => {
  const varying = (values: readonly string[]) =>
    likenessOf(
      values.map((value) => ({ ...answer, body: value, headers: { ...answer.headers, 'x-request-id': value } })),
    )
  assert.deepEqual(differences(varying(['a', 'b', 'c']), varying(['d', 'e', 'f']), false), [])
  assert.deepEqual(differences(varying(['a', 'b', 'c']), varying(['dd', 'ee', 'ff']), false), [
    "its body's length is 1, the baseline's 2",
  ])
})

test('an arm with a protocol of its own must only be compressed alike', () => {
  const own = like({ body: '{"result":"hello"}', headers: { 'content-type': 'application/json' } })
  assert.deepEqual(differences(own, like(), true), [])
  const compressed = like({ headers: { 'content-encoding': 'gzip' } })
  assert.deepEqual(differences(compressed, like(), true), [`its content-encoding is "gzip", the baseline's missing`])
})

test('an expectation that says nothing is filled in from what was seen, and one that says something stays', () => {
  assert.deepEqual(completed({ path: '/' }, like()).expect, {
    status: 200,
    body: 'hello',
    headers: [['content-encoding', null]],
  })
  const json = { pointer: '/ok', equals: true }
  const own = completed({ path: '/', expect: { json, status: 201, headers: [] } }, like()).expect
  assert.deepEqual(own, { status: 201, json, headers: [] })
  assert.equal(completed({ path: '/' }, likenessOf([answer, { ...answer, body: 'other' }])).expect?.body, undefined)
})
