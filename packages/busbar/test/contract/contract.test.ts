import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { client, safe } from '../../src/contract/client-entry.ts'
import { startHost } from '../../src/contract/host/host.ts'
import {
  BusbarError,
  error,
  fn,
  service,
  stream,
  type,
  type InContext,
  type Interceptor,
} from '../../src/contract/index.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

describe('a contract', () => {
  const wrong: Record<string, () => unknown> = {
    'a name that is no DNS label': () => service('My Shop', {}),
    'a method called catch': () => service('shop', { catch: fn() }),
    'a method called constructor': () => service('shop', { constructor: fn() } as never),
    'a method with an underscore': () => service('shop', { _secret: fn() }),
    'a method that is none': () => service('shop', { a: {} as never }),
    'an input that is no schema': () => fn({ input: {} as never }),
    'an error that Busbar has': () => fn({ errors: { INTERNAL: z.object({}) } }),
    'an error in small letters': () => fn({ errors: { notFound: z.object({}) } }),
    'a status that is no caller’s fault': () => error(500),
    'a success that is none': () => fn({ status: 404 as never }),
    'a mapping without a verb': () => fn({ http: '/products' }),
    'a mapping with a dot segment': () => fn({ http: 'GET /a/../b' }),
    'a mapping with half a segment': () => fn({ http: 'GET /a{id}' }),
    'two equal mappings': () =>
      service('shop', {
        a: fn({ input: z.object({ id: z.int() }), http: 'GET /a/{id}' }),
        b: fn({ input: z.object({ no: z.int() }), http: 'GET /a/{no}' }),
      }),
    'a time limit that is over': () => service('shop', { a: fn({ timeout: 0 }) }),
    'a negative time limit': () => service('shop', { a: fn({ timeout: -1 }) }),
    'a time limit that is no number': () => service('shop', { a: stream({ timeout: '50' as never }) }),
    'a time limit of NaN': () => service('shop', { a: fn({ timeout: NaN }) }),
    'text in a path that no schema reads': () =>
      service('shop', { a: fn({ input: type<{ id: number }>(), http: 'GET /a/{id}' }) }),
  }
  for (const [what, make] of Object.entries(wrong))
    it(`is refused with ${what}`, () => {
      assert.throws(make, (thrown) => BusbarError.is(thrown, 'CONTRACT_INVALID') && thrown.message.length > 10)
    })

  it('is implemented whole, or its first call says what is missing', async () => {
    const shop = service('shop', { a: fn(), b: fn() })
    const [failure] = await safe(client(shop, shop.implement({ a: () => {} } as never)).a())
    assert.equal(failure?.code, 'CONTRACT_INVALID')
    assert.match(failure.message, /has no b/)
  })

  it('is implemented by functions that see each other by `this`', async () => {
    const shop = service('shop', { a: fn({ output: z.int() }) })
    const functions = {
      n: 7,
      a() {
        return this.n
      },
    }
    assert.equal(await client(shop, shop.implement(functions)).a(), 7)
  })
})

describe('interceptors', () => {
  const shop = service('shop', {
    whoami: fn({ output: z.string() }),
    fails: fn({ input: type<string>(), errors: { SOLD: error(409) } }),
  })
  const signedIn: Interceptor<{ user: string }> = async ({ context }, next) => {
    const user = context.metadata['authorization']
    if (user === undefined) throw new BusbarError('UNAUTHENTICATED', { message: 'sign in first' })
    return await next({ user })
  }

  it('of a service refuse calls, and add to the context of the methods', async () => {
    const implementation = shop.use(signedIn).implement({ whoami: (_, { user }) => user, fails: () => {} })
    const calls = client(shop, implementation, { log: quiet })
    assert.equal((await safe(calls.whoami()))[0]?.code, 'UNAUTHENTICATED')
    assert.equal(await calls.whoami(undefined, { metadata: { authorization: 'ada' } }), 'ada')
  })

  it('of a service stand around each other in their order, and see how a call ends', async () => {
    const seen: string[] = []
    const note =
      (name: string): Interceptor =>
      async ({ method }, next) => {
        seen.push(`${name} before ${method}`)
        try {
          return await next()
        } catch (thrown) {
          seen.push(`${name} failed ${(thrown as BusbarError).code}`)
          throw thrown
        }
      }
    const implementation = shop
      .use(note('one'))
      .use(note('two'))
      .implement({ whoami: () => 'x', fails: (_, { fail }) => fail('SOLD') })
    assert.equal((await safe(client(shop, implementation).fails('x')))[0]?.code, 'SOLD')
    assert.deepEqual(seen, ['one before fails', 'two before fails', 'two failed SOLD', 'one failed SOLD'])
  })

  it('of an app stand outside of those of a service, whose implementation expects them by type', async () => {
    const inTransaction: Interceptor<{ transaction: { id: number } }> = async (_call, next) =>
      await next({ transaction: { id: 7 } })
    const ofApp = [signedIn, inTransaction] as const
    const expecting = shop.expects<InContext<typeof ofApp>>()
    const implementation = expecting.implement({
      whoami: (_, { user, transaction }) => `${user.toUpperCase()} ${transaction.id.toFixed(1)}`,
      fails: () => {},
    })
    const interceptors = ofApp as unknown as Interceptor[]
    const options = { name: 'shop', log: quiet, clone: false, maxInFlight: 1, client, interceptors }
    const host = await startHost(implementation, options)
    const metadata = { authorization: 'ada' }
    assert.equal(await host.method('whoami').call(undefined, { metadata }, true), 'ADA 7.0')
    await assert.rejects(host.method('whoami').call(undefined, {}, true), { code: 'UNAUTHENTICATED' })
    await host.stop(0)
  })

  it('of a client change its calls and their answers', async () => {
    const implementation = shop.use(signedIn).implement({ whoami: (_, { user }) => user, fails: () => {} })
    const calls = client(shop, implementation, {
      use: [
        async (call, next) => `${(await next({ ...call.options, metadata: { authorization: 'bob' } })) as string}!`,
        async (_call, next) => await next(),
      ],
    })
    assert.equal(await calls.whoami(), 'bob!')
  })
})

describe('errors', () => {
  const inner = service('inner', { get: fn({ input: z.object({ id: z.int() }), errors: { LOST: error(410) } }) })
  const outer = service('outer', { get: fn({ input: type<unknown>(), errors: { LOST: error(410) } }) })

  it('of another service are faults of the one that lets them through', async () => {
    const implementation = outer.implement(({ client: inside }) => {
      const there = inside(inner)
      return { get: (input) => there.get(input as { id: number }) }
    })
    const stack = [implementation, inner.implement({ get: (_, { fail }) => fail('LOST') })] as const
    const calls = client(outer, stack, { log: quiet })
    assert.equal((await safe(calls.get({ id: 1 })))[0]?.code, 'INTERNAL')
    assert.equal((await safe(calls.get({ id: 'x' })))[0]?.code, 'INTERNAL')
  })
})
