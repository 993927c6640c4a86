import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inTurn } from '../../src/protocol/slice.ts'
import { ownRequests } from '../../src/user-app/own-requests.ts'
import { readRequests } from '../../src/user-app/request-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'busbar-requests-'))
after(() => rmSync(folder, { recursive: true }))

function file(text: string): string {
  const path = join(folder, 'requests')
  writeFileSync(path, text)
  return path
}

test('lines have a path, and may have a weight and a method', async () => {
  const found = await readRequests(file('# read\n/\n3 /items\n\n2 delete /items/1\n'))
  assert.deepEqual(
    found.map(({ weight, method, path }) => [weight, method, path]),
    [
      [1, 'GET', '/'],
      [3, 'GET', '/items'],
      [2, 'DELETE', '/items/1'],
    ],
  )
})

test('JSON has headers, bodies and services', async () => {
  const text = JSON.stringify([
    { path: '/a', service: 'catalog' },
    { method: 'post', path: '/b', headers: { 'x-y': 'z' }, body: { id: 1 } },
  ])
  assert.deepEqual(await readRequests(file(text)), [
    { service: 'catalog', method: 'GET', path: '/a', headers: [], weight: 1 },
    {
      method: 'POST',
      path: '/b',
      headers: [
        ['x-y', 'z'],
        ['content-type', 'application/json'],
      ],
      body: '{"id":1}',
      weight: 1,
    },
  ])
})

const wrong: readonly (readonly [text: string, message: RegExp])[] = [
  ['items', /:1: "items" is no request: write \[weight\] \[METHOD\] \/path/],
  ['[{ "path": "/", "wieght": 2 }]', /wieght/],
  ['[{', /is not valid JSON/],
  ['# nothing', /has no request/],
]
for (const [text, message] of wrong)
  test(`${text} is refused with a reason`, async () => {
    await assert.rejects(readRequests(file(text)), message)
  })

test('a turn mixes requests evenly by their weights', () => {
  const [a, b] = [{ path: '/a' }, { path: '/b' }]
  const paths = inTurn({ requests: [a, b], weights: [3, 1] }).map(({ path }) => path)
  assert.equal(paths.length, 4)
  assert.equal(paths.filter((path) => path === '/a').length, 3)
  assert.notEqual(paths.indexOf('/b'), 3)
})

test('flags make one request; a body is a POST', async () => {
  const { requests, isPlain } = await ownRequests({ path: '/cart', header: ['x-user: 7'], body: '{}' })
  assert.deepEqual(requests, [{ path: '/cart', method: 'POST', headers: [['x-user', '7']], body: '{}' }])
  assert.equal(isPlain, false)
  await assert.rejects(ownRequests({ header: ['nothing'] }), /--header needs 'name: value'/)
  await assert.rejects(ownRequests({ path: '/', requests: 'x' }), /--requests replaces --path/)
})
