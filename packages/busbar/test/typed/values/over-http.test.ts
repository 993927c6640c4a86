import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { type as ark } from 'arktype'
import * as z from 'zod'
import { client, safe } from '../../../src/contract/client-entry.ts'
import { error, fn, service, stream, type } from '../../../src/contract/index.ts'
import { nodeListener, type NodeListener } from '../../../src/gateway/typed/adapters/index.ts'
import { ListeningServer } from '../../support/http/listening-server.ts'

/** The object that TypeScript emits for an `enum` of numbers. */
const Level = { Low: 0, High: 1, 0: 'Low', 1: 'High' } as const
const User = z.object({ name: z.string() })
const given = type<unknown>()

const things = service('things', {
  tagLike: fn({ input: given, output: z.object({ $bigint: z.string() }) }),
  other: fn({ input: given, output: z.object({ $ref: z.string() }) }),
  list: fn({ input: given, output: z.array(z.string().optional()) }),
  number: fn({ input: given, output: ark('number') }),
  level: fn({ input: given, output: z.enum(Level) }),
  exact: fn({ input: given, output: z.object({ a: z.exactOptional(z.string()) }) }),
  anything: fn({ input: z.object({ when: z.any() }), output: z.object({ when: z.any() }) }),
  found: fn({
    input: z.object({ id: z.any(), q: z.any().optional(), n: z.union([z.string(), z.number()]).optional() }),
    output: given,
    http: 'GET /things/{id}',
  }),
  counted: fn({ input: z.object({ n: z.int(), flag: z.boolean().optional() }), output: given, http: 'DELETE /counts' }),
  gone: fn({
    input: given,
    errors: { NOT_FOUND: User, SOLD: error(409), LATER: User.refine(async () => true), RAW: z.any() },
  }),
  drained: stream({ input: given, output: z.int(), errors: { DRY: User.refine(async () => true) } }),
  values: stream({ input: type<unknown[]>(), output: z.any() }),
})

const pass = (value: unknown): never => value as never
let urls: string[] = []
const logged: string[] = []
const keep = (line: string): void => void logged.push(line)
const listener: NodeListener = nodeListener(
  things.implement({
    tagLike: pass,
    other: pass,
    list: pass,
    number: pass,
    level: pass,
    exact: pass,
    anything: pass,
    found: pass,
    counted: pass,
    gone(input, { fail }) {
      const { code, data } = input as { code: 'NOT_FOUND'; data: never }
      fail(code, data)
    },
    async *drained(data, { fail }) {
      yield 1
      fail('DRY', data as never)
    },
    async *values(values) {
      yield* values
    },
  }),
  { log: { debug: keep, info: keep, warn: keep, error: keep } },
)

describe('a value over HTTP', () => {
  let server: ListeningServer
  let url: string
  const sent: typeof fetch = (input, init) => {
    urls.push(decodeURIComponent((input as string).slice(url.length)))
    return fetch(input, init)
  }

  before(async () => {
    server = await ListeningServer.open(listener)
    url = server.url
  })
  after(async () => await server[Symbol.asyncDispose]())

  async function raw(method: string, body: unknown): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    return await (
      await fetch(`${url}/things/${method}`, { method: 'POST', headers, body: JSON.stringify(body) })
    ).text()
  }

  it('may look like a tag', async () => {
    assert.deepStrictEqual(await client(things, url).tagLike({ $bigint: '12' }), { $bigint: '12' })
  })

  it('is not changed by JSON: undefined in a list, Infinity, -0, a date in an untyped field', async () => {
    const calls = client(things, url)
    assert.deepStrictEqual(await calls.list(['a', undefined]), ['a', undefined])
    for (const number of [Infinity, -Infinity, -0]) assert.deepStrictEqual(await calls.number(number), number)
    const when = new Date(0)
    assert.deepStrictEqual(await calls.anything({ when }), { when })
  })

  it('passes the output schema of every library', async () => {
    const calls = client(things, url)
    assert.equal((await safe(calls.level('Low')))[0]?.code, 'INTERNAL')
    assert.equal(await calls.level(1), 1)
    assert.equal((await safe(calls.exact({ a: undefined })))[0]?.code, 'INTERNAL')
  })

  it('is plain JSON unless the client accepts tags', async () => {
    assert.equal(await raw('other', { $ref: '#/a' }), '{"$ref":"#/a"}')
    assert.equal(await raw('anything', { when: { $number: '-0' } }), '{"when":0}')
    assert.equal(await raw('anything', { when: { a: { $undefined: true }, b: 1 } }), '{"when":{"b":1}}')
    assert.equal(await raw('tagLike', { $plain: { $bigint: '12' } }), '{"$plain":{"$bigint":"12"}}')
  })

  it('may look like the end of a stream', async () => {
    const values = [{ $end: true, a: 1 }, { $end: true }, { $error: { code: 'X' }, a: 1 }, { $error: 1 }, undefined]
    const seen: unknown[] = []
    for await (const value of client(things, url).values(values)) seen.push(value)
    assert.deepStrictEqual(seen, values)
  })

  const fields: object[] = [
    { id: '7' },
    { id: 7 },
    { id: 'a', q: null },
    { id: 'a', q: 'null' },
    { id: 'a', q: undefined },
    { id: 'a', q: { x: [new Date(0), 1n] } },
    { id: 'a', q: '\ud800' },
    { id: 'a', n: 7 },
    { id: 'a', n: '7' },
    { id: 'a', $input: 1 },
  ]
  for (const input of fields)
    it(`arrives unchanged by path and query: ${inspect(input)}`, async () => {
      const { $input: _, ...rest } = input as Record<string, unknown>
      assert.deepStrictEqual(await client(things, url).found(input as never), rest)
    })

  it('is plain text in a query if that is unambiguous', async () => {
    urls = []
    const calls = client(things, url, { fetch: sent })
    await calls.found({ id: 'a', q: 'lamp', n: 'x' })
    await calls.counted({ n: 7, flag: false })
    await calls.found({ id: 'a', n: 7 })
    assert.deepEqual(urls, ['/things/a?q=lamp&n=x', '/counts?n=7&flag=false', '/things/a?$input={"id":"a","n":7}'])
  })

  it('of the wrong type is refused in a query, too', async () => {
    const [failure] = await safe(client(things, url).counted({ n: '7' as never }))
    assert.equal(failure?.code, 'INPUT_INVALID')
  })

  it('must be the same in query and path', async () => {
    for (const exact of ['{"id":"b"}', '{}', '[]', '1', '{', '{"id":{"$date":1}}']) {
      const response = await fetch(`${url}/things/a?$input=${encodeURIComponent(exact)}`)
      assert.ok([400, 422].includes(response.status), `${exact} ${response.status}`)
    }
    const same = await fetch(`${url}/things/7?$input=${encodeURIComponent('{"id":7}')}`)
    assert.deepEqual(await same.json(), { id: 7 })
  })

  it('as error data is stripped to its schema', async () => {
    const calls = client(things, url)
    const row = { name: 'Ada', passwordHash: 'secret' }
    for (const code of ['NOT_FOUND', 'LATER'])
      assert.deepStrictEqual((await safe(calls.gone({ code, data: row })))[0]?.data, { name: 'Ada' })
    assert.equal((await safe(calls.gone({ code: 'SOLD', data: row })))[0]?.data, undefined)
    assert.doesNotMatch(await raw('gone', { code: 'NOT_FOUND', data: row }), /secret/)
    const drained = calls.drained(row)
    assert.equal((await drained.next()).value, 1)
    await assert.rejects(drained.next(), (thrown: { code: string; data: unknown }) => {
      assert.deepStrictEqual([thrown.code, thrown.data], ['DRY', { name: 'Ada' }])
      return true
    })
  })

  it('as error data is an INTERNAL error if it is invalid or unsupported', async () => {
    for (const code of ['NOT_FOUND', 'LATER']) {
      logged.length = 0
      assert.equal((await safe(client(things, url).gone({ code, data: { name: 7 } })))[0]?.code, 'INTERNAL')
      assert.match(logged.join('\n'), new RegExp(`the data of ${code}: name: `))
    }
    const broken = service('broken', { gone: fn({ errors: { RAW: z.any() } }) })
    const bad = nodeListener(broken.implement({ gone: (_, { fail }) => fail('RAW', { f: () => 1 }) }), {
      log: { debug: keep, info: keep, warn: keep, error: keep },
    })
    await using other = await ListeningServer.open(bad)
    assert.equal((await safe(client(broken, other.url).gone()))[0]?.code, 'INTERNAL')
  })
})
