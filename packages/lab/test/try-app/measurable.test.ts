import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measurable } from '../../src/try-app/measurable.ts'

interface Answer {
  readonly path: string
  readonly status: number | null
  readonly service?: string
  readonly differs?: boolean
}

/** As two arms answered: paths that are measured, and why there are none. */
function measured(...given: readonly Answer[]): { paths: string[]; why: string | undefined } {
  const requests = given.map(({ path, service }) => ({
    path,
    method: 'GET',
    headers: [],
    weight: 1,
    ...(service !== undefined && { service }),
  }))
  const arm = given.map(({ path, status, service = 'web', differs }) => ({
    service,
    method: 'GET',
    path,
    status,
    differences: differs === true ? [{ part: 'status', today: '200', here: '500' }] : [],
    ignored: [],
  }))
  const found = measurable({ requests, entry: 'web', answers: [arm, arm] })
  return { paths: found.requests.map(({ path }) => path), why: found.why }
}

test('what is measured are requests to the entry with the same answers, also a 404 beside others', () => {
  const answers = [
    { path: '/', status: 404 },
    { path: '/items', status: 200 },
    { path: '/now', status: 200, differs: true },
    { path: '/broken', status: 500 },
    { path: '/silent', status: null },
    { path: '/list', status: 200, service: 'api' },
  ]
  assert.deepEqual(measured(...answers), { paths: ['/', '/items'], why: undefined })
})

test('404s alone are not measured, and it says whether other answers were none', () => {
  const none = { path: '/', status: 404 }
  assert.match(measured(none).why!, /^every answer to the requests was a 404\. /)
  const ofEntry = /^every answer of the entry, web, that could be measured was a 404\. /
  for (const other of [
    { path: '/items', status: 200, differs: true },
    { path: '/items', status: 500 },
    { path: '/items', status: 200, service: 'api' },
  ]) {
    assert.deepEqual(measured(none, other).paths, [])
    assert.match(measured(none, other).why!, ofEntry)
  }
})

test('without a request to the entry nothing is measured, which it says', () => {
  assert.match(measured({ path: '/', status: 200, service: 'api' }).why!, /^no request goes to the entry, web\. /)
})
