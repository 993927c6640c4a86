import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as z from 'zod'
import { client } from '../../../src/contract/client-entry.ts'
import { fetchHandler } from '../../../src/contract/fetch-entry.ts'
import { BusbarError, fn, service, stream } from '../../../src/contract/index.ts'
import { nodeListener, type NodeListener } from '../../../src/gateway/typed/adapters/index.ts'
import { ListeningServer } from '../../support/http/listening-server.ts'

const users = service('users', {
  endAll: fn({ output: z.string(), http: 'DELETE /sessions' }),
  end: fn({
    input: z.object({ id: z.string(), why: z.string().optional() }),
    output: z.string(),
    http: 'DELETE /users/{id}/sessions',
  }),
  rename: fn({ input: z.object({ id: z.any(), name: z.string() }), output: z.string(), http: 'PUT /users/{id}' }),
  watch: stream({ input: z.object({ id: z.string() }), output: z.string(), http: 'GET /users/{id}/events' }),
})
const asked: string[] = []
const answer = (method: string, id?: string): string => {
  asked.push(method)
  return `${method} ${id}`
}
const implementation = users.implement({
  endAll: () => answer('endAll'),
  end: ({ id, why }) => answer('end', why === undefined ? id : `${id} because ${why}`),
  rename: ({ id }) => answer('rename', String(id)),
  async *watch({ id }) {
    yield answer('watch', id)
  },
})

const handler = fetchHandler(implementation)
const listener: NodeListener = nodeListener(implementation)
let server: ListeningServer
let url: string

const clients = {
  'over HTTP': () => client(users, url),
  'by a custom fetch': () =>
    client(users, 'http://users.example', { fetch: async (input, init) => await handler(new Request(input, init)) }),
}

/** Segments that a URL parser removes, or that cannot be in a URL. */
const refused: Record<string, unknown> = {
  'a dot': '.',
  'two dots': '..',
  'a string that begins with a dot and a slash': './a',
  'a string that begins with two dots and a slash': '../a',
  'an empty string': '',
  'an unpaired high surrogate': 'a\ud800',
  'an unpaired low surrogate': '\udc00a',
  'surrogates in the wrong order': '\udc00\ud800',
  'no value': undefined,
}

describe('a call with fields in its path', () => {
  before(async () => {
    server = await ListeningServer.open(listener)
    url = server.url
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await handler[Symbol.asyncDispose]()
  })

  for (const [way, open] of Object.entries(clients))
    describe(`a field in the path of a call ${way}`, () => {
      for (const [what, id] of Object.entries(refused))
        it(`is refused before sending if it is ${what}`, async () => {
          const calls = open()
          const before = asked.length
          const named = (error: unknown): true => {
            assert.ok(BusbarError.is(error, 'INPUT_INVALID'), String(error))
            assert.match(error.message, / at id: /)
            assert.deepEqual((error.data as { issues: { path: unknown[] }[] }).issues[0]!.path[0], 'id')
            return true
          }
          if (typeof id === 'string') {
            await assert.rejects(calls.end({ id }), named)
            await assert.rejects(calls.watch({ id }).next(), named)
          }
          await assert.rejects(calls.rename({ id, name: 'Ada' }), named)
          assert.deepEqual(asked.slice(before), [])
        })

      it('is sent unchanged if it only resembles one of these', async () => {
        const calls = open()
        const texts = [
          '...',
          '%2e',
          '.%2E',
          '%2e%2e',
          '%2F',
          'a/../b',
          '.../a',
          '..a/b',
          '..\\..',
          '. ',
          ' ',
          '..;',
          '?',
          '#',
          'é',
          '😀',
          '\u0000',
          '\t',
          'C|',
        ]
        for (const id of texts) {
          assert.equal(await calls.end({ id }), `end ${id}`)
          const { value } = await calls.watch({ id }).next()
          assert.equal(value, `watch ${id}`)
        }
      })

      it('may have an unpaired surrogate in a field of its query', async () => {
        assert.equal(await open().end({ id: 'a', why: '\ud800' }), 'end a because \ud800')
      })

      it('does not apply to a body, which can have all of these', async () => {
        for (const name of ['.', '..', '', '\ud800']) assert.equal(await open().rename({ id: 'a', name }), 'rename a')
      })
    })
})

describe('the address of a service', () => {
  it('is also a single path segment', async () => {
    const other = service('other', { get: fn({ output: z.string() }) })
    for (const name of ['..', '.', '', 'a/b', 'users/../x', '%2e%2e'])
      assert.throws(() => client(other, url, { service: name }), { code: 'CONTRACT_INVALID' })
  })
})
