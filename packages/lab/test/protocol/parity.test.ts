import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { withExpectations, differences, profileOf, type Answer } from '../../src/protocol/parity.ts'

const answer: Answer = {
  status: 200,
  body: Buffer.from('hello'),
  headers: { 'content-type': 'text/plain', date: 'now' },
}
const like = (change: Partial<Answer> = {}) => profileOf([{ ...answer, ...change }])
const withHeaders = (headers: Record<string, string>) => like({ headers: { ...answer.headers, ...headers } })

test('equal answers match, regardless of connection headers', () => {
  assert.deepEqual(differences(like(), like(), false), [])
  const other = withHeaders({
    date: 'later',
    connection: 'keep-alive',
    'keep-alive': 'timeout=5',
    'transfer-encoding': 'chunked',
  })
  assert.deepEqual(differences(other, like(), false), [])
})

test('a call of gRPC succeeds by another status than HTTP, and fails by any', () => {
  const [created, call] = [like({ status: 201 }), like({ status: 0 })]
  assert.deepEqual(differences(call, created, true), [])
  assert.deepEqual(differences(like({ status: 5 }), call, true), ["its status is 5, the baseline's 0"])
  assert.deepEqual(differences(like(), created, true), ["its status is 200, the baseline's 201"])
})

test('every difference is reported', () => {
  assert.deepEqual(differences(like({ status: 201 }), like(), false), ["its status is 201, the baseline's 200"])
  assert.deepEqual(differences(like({ body: Buffer.from('hell') }), like(), false), [
    `its body is "hell", the baseline's "hello"`,
  ])
  assert.deepEqual(differences(withHeaders({ etag: 'x' }), like(), false), [`its etag is "x", the baseline's missing`])
  assert.deepEqual(differences(like(), withHeaders({ etag: 'x' }), false), [`its etag is missing, the baseline's "x"`])
  assert.deepEqual(differences(withHeaders({ 'content-type': 'text/html' }), like(), false), [
    `its content-type is "text/html", the baseline's "text/plain"`,
  ])
})

test('what varies within one arm is not a difference between two', () => {
  const varying = (values: readonly string[]) =>
    profileOf(
      values.map((value) => ({
        ...answer,
        body: Buffer.from(value),
        headers: { ...answer.headers, 'x-request-id': value },
      })),
    )
  assert.deepEqual(differences(varying(['a', 'b', 'c']), varying(['d', 'e', 'f']), false), [])
  assert.deepEqual(differences(varying(['a', 'b', 'c']), varying(['dd', 'ee', 'ff']), false), [
    "its body's length is 1, the baseline's 2",
  ])
})

test('an arm with its own protocol must only use the same encoding', () => {
  const own = like({ body: Buffer.from('{"result":"hello"}'), headers: { 'content-type': 'application/json' } })
  assert.deepEqual(differences(own, like(), true), [])
  const compressed = like({ headers: { 'content-encoding': 'gzip' } })
  assert.deepEqual(differences(compressed, like(), true), [`its content-encoding is "gzip", the baseline's missing`])
})

test('an expectation is completed from the answers before the load, and explicit parts stay', () => {
  const { otherHeaders, ...said } = withExpectations({ path: '/' }, like()).expect!
  assert.deepEqual(said, { status: 200, body: 'hello', headers: [['content-type', 'text/plain']] })
  assert.ok(otherHeaders?.includes('date'))
  const json = { pointer: '/ok', equals: true }
  const headers: [string, string | null][] = [['content-type', null]]
  const own = withExpectations({ path: '/', expect: { json, status: 201, headers } }, like()).expect!
  assert.deepEqual([own.status, own.json, own.headers, own.body], [201, json, headers, undefined])
  const other = { ...answer, body: Buffer.from('other') }
  assert.equal(withExpectations({ path: '/' }, profileOf([answer, other])).expect?.body, undefined)
})

test('a variable header may have any value, and no other header may appear', () => {
  const three = ['a', 'b', 'c'].map((id) => ({ ...answer, headers: { ...answer.headers, 'x-trace': id, age: '0' } }))
  const { headers, otherHeaders } = withExpectations({ path: '/' }, profileOf(three)).expect!
  assert.deepEqual(headers, [['content-type', 'text/plain']])
  assert.ok(otherHeaders!.includes('x-trace') && otherHeaders!.includes('age'))
  assert.ok(!otherHeaders!.includes('etag'))
})

test('a header that only a later answer has is variable', () => {
  const later = { ...answer, headers: { ...answer.headers, etag: '"1"' } }
  assert.equal(profileOf([answer, later]).headers['etag'], null)
})

test('a binary body is compared by its hash, after decompression', () => {
  const compressed = (body: Buffer, encoding: string) =>
    like({ body, headers: { 'content-type': 'text/plain', 'content-encoding': encoding } })
  const gzip = compressed(gzipSync('hello', { level: 9 }), 'gzip')
  assert.match(withExpectations({ path: '/' }, gzip).expect!.sha256!, /^[0-9a-f]{64}$/)
  assert.deepEqual(differences(compressed(gzipSync('hello', { level: 1 }), 'gzip'), gzip, false), [])
  assert.deepEqual(differences(compressed(gzipSync('hell'), 'gzip'), gzip, false), [
    'its body is "hell", the baseline\'s "hello"',
  ])
  assert.deepEqual(differences(compressed(brotliCompressSync('hello'), 'br'), gzip, false), [
    'its content-encoding is "br", the baseline\'s "gzip"',
  ])
})
