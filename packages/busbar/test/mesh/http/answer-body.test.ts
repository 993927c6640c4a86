import assert from 'node:assert/strict'
import { it } from 'node:test'
import { AnswerBody } from '../../../src/mesh/http/answer-body.ts'

const head = (status: number, headers: Record<string, string | string[]>) => ({ status, statusText: '', headers })

it('a body is as long as its head states, at most', () => {
  const body = new AnswerBody('GET')
  assert.equal(body.begin(head(200, { 'content-length': '5' })), true)
  assert.equal(body.take('añ'), 'añ')
  assert.equal(String(body.take(new Uint8Array([97, 98, 99]))), 'ab')
  assert.equal(body.take('c'), undefined)
})

it('a response without a body has none', () => {
  for (const [method, status] of [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ] as const) {
    const body = new AnswerBody(method)
    assert.equal(body.begin(head(status, { 'content-length': '5' })), true)
    assert.equal(body.take('hello'), undefined)
  }
})

it('a body without a stated length is not cut', () => {
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
    const body = new AnswerBody('GET')
    assert.equal(body.begin(head(200, headers)), true)
    assert.equal(body.take('hello'), 'hello')
  }
})
