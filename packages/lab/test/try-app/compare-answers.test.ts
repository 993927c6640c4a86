import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareAnswers } from '../../src/try-app/compare-answers.ts'
import type { Answer } from '../../src/protocol/parity.ts'

function answer(body: unknown, headers: Record<string, string> = {}, status = 200): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status, headers, body: Buffer.from(text) }
}

const three = (one: Answer): Answer[] => [one, one, one]

test('equal answers have no difference', () => {
  const samples = three(answer({ items: [1, 2] }, { etag: '"a"', 'content-type': 'application/json' }))
  assert.deepEqual(compareAnswers([samples, samples], samples), { differences: [], ignored: [] })
})

test('a value of a JSON body, a header and a status that differ are named', () => {
  const today = three(answer({ items: [{ name: 'pen' }] }, { etag: '"a"' }))
  const here = three(answer({ items: [{ name: 'ink' }] }, { etag: '"a"', 'x-more': '1' }, 201))
  assert.deepEqual(compareAnswers([today, today], here).differences, [
    { part: 'status', today: '200', here: '201' },
    { part: 'body /items/0/name', today: '"pen"', here: '"ink"' },
    { part: 'header x-more', today: null, here: '1' },
  ])
})

test('what changes from answer to answer, or from start to start, is not compared', () => {
  const start = (pid: number): Answer[] =>
    [1, 2, 3].map((count) => answer({ count, pid, name: 'pen' }, { etag: `"${pid}"` }))
  const { differences, ignored } = compareAnswers([start(7), start(8)], start(9))
  assert.deepEqual(differences, [])
  assert.deepEqual(
    ignored.map(({ part, why }) => `${part}: ${why}`),
    [
      'header etag: changes from start to start today',
      'body /count: changes from answer to answer today',
      'body /pid: changes from start to start today',
    ],
  )
  const renamed = start(9).map(() => answer({ count: 1, pid: 9, name: 'ink' }))
  const found = compareAnswers([start(7), start(8)], renamed).differences
  assert.deepEqual(
    found.map(({ part }) => part),
    ['body /name'],
  )
})

test('a header that follows from a changing body is not compared', () => {
  const today = ['one', 'another'].map((body) => answer(body, { etag: '"same"' }))
  const here = three(answer('three', { etag: '"other"' }))
  assert.deepEqual(compareAnswers([today, today], here).differences, [])
})

test('a header that follows from a body that differs is no difference of its own', () => {
  const today = three(answer('one', { 'content-length': '3', etag: '"one"', 'x-page': '1' }))
  const here = three(answer('three', { 'content-length': '5', etag: '"three"', 'x-page': '2' }))
  const found = compareAnswers([today, today], here).differences.map(({ part }) => part)
  assert.deepEqual(found.toSorted(), ['body', 'header x-page'])
})

test('cookies are compared by name and attributes, the date by its presence', () => {
  const today = three(answer('', { 'set-cookie': 'sid=abc; Path=/; HttpOnly', date: 'Mon' }))
  const same = three(answer('', { 'set-cookie': 'sid=def; Path=/; HttpOnly', date: 'Tue' }))
  assert.deepEqual(compareAnswers([today], same).differences, [])
  const open = three(answer('', { 'set-cookie': 'sid=def; Path=/' }))
  assert.deepEqual(
    compareAnswers([today], open).differences.map(({ part }) => part),
    ['header set-cookie', 'header date'],
  )
})

test('lines of a text are compared one by one, and no answer is a difference', () => {
  const page = (time: number, title: string): Answer => answer(`<h1>${title}</h1>\n<p>${time}</p>`)
  const today = [page(1, 'Shop'), page(2, 'Shop')]
  assert.deepEqual(compareAnswers([today], [page(3, 'Shop'), page(4, 'Shop')]).differences, [])
  assert.deepEqual(compareAnswers([today], [page(3, 'Sale'), page(4, 'Sale')]).differences, [
    { part: 'body line 1', today: '<h1>Shop</h1>', here: '<h1>Sale</h1>' },
  ])
  const [none] = compareAnswers([today], ['connect ECONNREFUSED']).differences
  assert.equal(none?.part, 'status')
})

test('an answer that is sometimes missing today hides no header of those that there are', () => {
  const at = (date: string): (Answer | string)[] => [
    answer('hi', { date }),
    'read ECONNRESET',
    'connect 127.0.0.1:20001',
  ]
  const { differences, ignored } = compareAnswers([at('Mon'), at('Tue')], at('Wed'))
  assert.deepEqual(differences, [])
  assert.ok(ignored.some(({ part }) => part === 'answer'))
  const dateless = [answer('hi'), 'read ECONNRESET', 'read ECONNRESET']
  assert.deepEqual(compareAnswers([at('Mon'), at('Tue')], dateless).differences, [
    { part: 'header date', today: 'Mon', here: null },
  ])
})

test('a refused connection is the same at each port', () => {
  const refused = (port: number): string[] => [`connect ECONNREFUSED 127.0.0.1:${port}`]
  assert.deepEqual(compareAnswers([refused(20_001)], refused(20_009)).differences, [])
})
