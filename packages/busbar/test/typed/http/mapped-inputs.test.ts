import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as z from 'zod'
import { client } from '../../../src/contract/client-entry.ts'
import { fn, service, type } from '../../../src/contract/index.ts'
import { nodeListener, type NodeListener } from '../../../src/gateway/typed/adapters/index.ts'
import { ListeningServer } from '../../support/http/listening-server.ts'

const values = service('values', {
  sum: fn({ input: z.array(z.number()), output: z.number(), http: 'POST /sum' }),
  echo: fn({ input: z.any(), output: type<unknown>(), http: 'PUT /echo' }),
  unchecked: fn({ input: type<unknown>(), output: type<unknown>(), http: 'PATCH /unchecked' }),
  later: fn({ input: z.any().refine(async () => true), output: type<unknown>(), http: 'POST /later' }),
  part: fn({ input: z.any(), output: type<unknown>(), http: 'POST /parts/{id}' }),
  found: fn({ input: z.any(), output: type<unknown>(), http: 'GET /found' }),
})

const samples: Record<string, unknown> = {
  'a list': [1, 2],
  'an empty list': [],
  'a text': 'text',
  'an empty text': '',
  'a number': 7,
  'a boolean': false,
  null: null,
  'a bigint': 12n,
  'a date': new Date(0),
  'a map': new Map([['a', 1]]),
  'a set': new Set([1]),
  bytes: Uint8Array.of(1, 255),
  'an object': { a: 1 },
  'an empty object': {},
  nothing: undefined,
}

describe('an input that is not an object', () => {
  let listener: NodeListener
  let server: ListeningServer
  let url: string

  before(async () => {
    const echo = (input: unknown): unknown => input
    const implementation = values.implement({
      sum: (numbers) => numbers.reduce((sum, number) => sum + number, 0),
      echo,
      unchecked: echo,
      later: echo,
      part: echo,
      found: echo,
    })
    listener = nodeListener(implementation)
    server = await ListeningServer.open(listener)
    url = server.url
  })
  after(async () => await server[Symbol.asyncDispose]())

  const send = async (verb: string, path: string, body: string): Promise<[number, unknown]> => {
    const response = await fetch(url + path, { method: verb, body, headers: { 'content-type': 'application/json' } })
    return [response.status, await response.json()]
  }

  it('is the body of a mapped method', async () => {
    assert.deepEqual(await send('POST', '/sum', '[1,2]'), [200, 3])
    assert.equal(await client(values, url).sum([1, 2]), 3)
  })

  for (const [what, value] of Object.entries(samples))
    it(`is sent as the body, or as JSON in the query, if it is ${what}`, async () => {
      const calls = client(values, url)
      for (const method of ['echo', 'unchecked', 'later', 'found'] as const)
        assert.deepEqual(await calls[method](value), value, method)
    })

  const withoutFields = Object.entries(samples).filter(([what]) => !/object|nothing/.test(what))
  for (const [what, value] of withoutFields)
    it(`is refused if the path has a field and it is ${what}`, async () => {
      const calls = client(values, url)
      const expected = { code: 'INPUT_INVALID', message: /has no fields/ }
      await assert.rejects(calls.part(value), expected)
    })

  it('is also refused by the service if the path has a field', async () => {
    for (const body of ['[1,2]', '"text"', '7', 'null', '{"$map":[["a",1]]}', '{"$date":"2026-01-01T00:00:00.000Z"}']) {
      const [status, problem] = await send('POST', '/parts/1', body)
      assert.deepEqual([status, (problem as { code: string }).code], [422, 'INPUT_INVALID'], body)
    }
    assert.deepEqual(await send('POST', '/parts/1', '{"a":1}'), [200, { a: 1, id: '1' }])
    const bare = await fetch(`${url}/parts/1`, { method: 'POST' })
    assert.deepEqual(await bare.json(), { id: '1' })
  })
})
