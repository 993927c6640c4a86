import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { client, safe } from '../../src/contract/client-entry.ts'
import { startHost } from '../../src/contract/host/typed-host.ts'
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
    'a name that is not a DNS label': () => service('My Shop', {}),
    'a method called catch': () => service('shop', { catch: fn() }),
    'a method called constructor': () => service('shop', { constructor: fn() } as never),
    'a method with an underscore': () => service('shop', { _secret: fn() }),
    'a method not made by fn() or stream()': () => service('shop', { a: {} as never }),
    'an input that is not a schema': () => fn({ input: {} as never }),
    'an error code of Busbar': () => fn({ errors: { INTERNAL: z.object({}) } }),
    'an error code in lower case': () => fn({ errors: { notFound: z.object({}) } }),
    'an error status that is not a client error': () => error(500),
    'a success status that is not one': () => fn({ status: 404 as never }),
    'a mapping without a verb': () => fn({ http: '/products' }),
    'a mapping with a dot segment': () => fn({ http: 'GET /a/../b' }),
    'a mapping with a parameter in part of a segment': () => fn({ http: 'GET /a{id}' }),
    'two equal mappings': () =>
      service('shop', {
        a: fn({ input: z.object({ id: z.int() }), http: 'GET /a/{id}' }),
        b: fn({ input: z.object({ no: z.int() }), http: 'GET /a/{no}' }),
      }),
    'a timeout of zero': () => service('shop', { a: fn({ timeout: 0 }) }),
    'a negative timeout': () => service('shop', { a: fn({ timeout: -1 }) }),
    'a timeout that is not a number': () => service('shop', { a: stream({ timeout: '50' as never }) }),
    'a timeout of NaN': () => service('shop', { a: fn({ timeout: NaN }) }),
    'a path parameter without a schema': () =>
      service('shop', { a: fn({ input: type<{ id: number }>(), http: 'GET /a/{id}' }) }),
  }
  for (const [what, make] of Object.entries(wrong))
    it(`is refused with ${what}`, () => {
      assert.throws(make, (thrown) => BusbarError.is(thrown, 'CONTRACT_INVALID') && thrown.message.length > 10)
    })

  it('needs a complete implementation, else the first call names what is missing', async () => {
    const shop = service('shop', { a: fn(), b: fn() })
    const [failure] = await safe(client(shop, shop.implement({ a: () => {} } as never)).a())
    assert.equal(failure?.code, 'CONTRACT_INVALID')
    assert.match(failure.message, /has no b/)
  })

  it('can be implemented by functions that use `this`', async () => {
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

  it('of a service can refuse calls, and add to the context', async () => {
    const implementation = shop.use(signedIn).implement({ whoami: (_, { user }) => user, fails: () => {} })
    const calls = client(shop, implementation, { log: quiet })
    assert.equal((await safe(calls.whoami()))[0]?.code, 'UNAUTHENTICATED')
    assert.equal(await calls.whoami(undefined, { metadata: { authorization: 'ada' } }), 'ada')
  })

  it('of a service nest in their order, and see how a call ends', async () => {
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

  it('of an app run outside those of a service, whose implementation can rely on them', async () => {
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

  it('of a client can change its calls and their results', async () => {
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

  it('of another service become INTERNAL if a method does not catch them', async () => {
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
