import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentRequests } from '../../src/adopt/trying/openapi-requests.ts'
import { TestFolder } from '../support/app/test-folder.ts'

test('GET and HEAD of a document are requested with its examples; the rest is listed', async () => {
  using folder = new TestFolder({
    'openapi.yaml': `
openapi: 3.1.0
servers: [{ url: 'https://api.example.com/v1/' }]
components:
  parameters:
    limit: { name: limit, in: query, required: true, schema: { type: integer, default: 10 } }
paths:
  /items:
    parameters: [{ $ref: '#/components/parameters/limit' }]
    get: { parameters: [{ name: sort, in: query, example: 'name up' }, { name: page, in: query, schema: { default: 1 } }] }
    post: {}
  /items/{id}:
    get: { parameters: [{ name: id, in: path, required: true, examples: { one: { value: 7 } } }] }
    head: { parameters: [{ name: id, in: path, required: true }] }
  /state/{kind}:
    get: { parameters: [{ name: kind, in: path, required: true, schema: { enum: [open, closed] } }] }
`,
  })
  const found = await documentRequests(folder.path)
  assert.deepEqual(
    found?.requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /v1/items?limit=10&sort=name+up', 'GET /v1/items/7', 'GET /v1/state/open'],
  )
  assert.deepEqual(found?.leftOut, ['POST /items', 'HEAD /items/{id}'])
  using empty = new TestFolder({})
  assert.equal(await documentRequests(empty.path), undefined)
})
