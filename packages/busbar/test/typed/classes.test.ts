import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { client, safe } from '../../src/contract/client-entry.ts'
import {
  BusbarError,
  service,
  type Context,
  type Interceptor,
  type PlainClient,
  type PlainImplementation,
} from '../../src/contract/index.ts'
import { nodeListener } from '../../src/gateway/typed/adapters/index.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }

/** How a client reaches the service. */
const ways: Record<string, <T extends object>(calc: PlainImplementation<T>) => Promise<Reached<T>>> = {
  'in one thread': async (calc) => {
    const calls = client(calc, calc, { log })
    return { calls, [Symbol.asyncDispose]: () => calls[Symbol.asyncDispose]() }
  },
  'over HTTP': async (calc) => {
    const listener = nodeListener(calc, { log })
    const server = createServer(listener)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const stop = async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await listener[Symbol.asyncDispose]()
    }
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { calls: client(calc, url), [Symbol.asyncDispose]: stop }
  },
}
type Reached<T extends object> = { calls: PlainClient<T> } & AsyncDisposable

class Base {
  inherited(): string {
    return 'from Base'
  }
  overridden(): string {
    return 'from Base'
  }
  hidden(): string {
    return 'from Base'
  }
  _internal(): string {
    return 'secret'
  }
}
class Middle extends Base {
  override overridden(): string {
    return `${super.overridden()} and Middle`
  }
}
class Calculator extends Middle {
  static ran: string[] = []
  readonly user: string
  readonly total = 7
  readonly arrow = (): string => `arrow of ${this.user}`

  constructor(user = 'nobody') {
    super()
    this.user = user
  }
  add(a: number, b: number): number {
    return a + b
  }
  whoami(): string {
    return this.user
  }
  get peeked(): () => string {
    Calculator.ran.push('peeked')
    return () => 'secret'
  }
  fails(): never {
    throw new Error('secret')
  }
}
Object.defineProperty(Calculator.prototype, 'hidden', { get: () => Calculator.ran.push('hidden') })

for (const [way, reach] of Object.entries(ways))
  describe(`a class without a contract ${way}`, () => {
    it('gives its factory the context of each call, once', async () => {
      const seen: [string, string, string | undefined, boolean][] = []
      const calc = service.from('calc', ({ service, method, metadata, signal, timeLeft }) => {
        seen.push([service, method, metadata['x-user'], signal.aborted || timeLeft === Infinity])
        return new Calculator(metadata['x-user'])
      })
      await using reached = await reach(calc)
      const { calls } = reached
      assert.equal(await calls.whoami(), 'nobody')
      assert.equal(await calls.add(1, 2), 3)
      assert.equal(await calls.add(1, 3), 4)
      assert.equal((await safe((calls as any).missing() as never))[0]?.code, 'METHOD_UNKNOWN')
      assert.deepEqual(seen, [
        ['calc', 'whoami', undefined, true],
        ['calc', 'add', undefined, true],
        ['calc', 'add', undefined, true],
        ['calc', 'missing', undefined, true],
      ])
    })

    it('runs interceptors, whose metadata the factory gets', async () => {
      const order: string[] = []
      const signedIn: Interceptor<{ user: string }> = async ({ method, context }, next) => {
        order.push(`signed in for ${method}`)
        const user = context.metadata['authorization'] ?? 'ada'
        if (user === 'eve') throw new BusbarError('FORBIDDEN', { message: 'not eve' })
        return await next({ user })
      }
      const shouting: Interceptor = async ({ input }, next) => {
        order.push(`input ${JSON.stringify(input)}`)
        return `${String(await next())}!`
      }
      const calc = service
        .from('calc', ({ user }: Context & { user: string }) => {
          order.push(`made for ${user}`)
          return new Calculator(user)
        })
        .use(signedIn)
        .use(shouting)
      await using reached = await reach(calc)
      assert.equal(await reached.calls.whoami(), 'ada!')
      assert.deepEqual(order, ['signed in for whoami', 'input []', 'made for ada'])
      const eve = client(
        calc,
        calc.use(async () => await Promise.reject(new BusbarError('FORBIDDEN', { message: 'no' }))),
      )
      await assert.rejects(eve.whoami(), { code: 'FORBIDDEN' })
      await eve[Symbol.asyncDispose]()
    })

    it('has the methods of its type, including inherited ones', async () => {
      await using reached = await reach(service.from('calc', () => new Calculator('ada')))
      const { calls } = reached
      assert.equal(await calls.inherited(), 'from Base')
      assert.equal(await calls.overridden(), 'from Base and Middle')
      assert.equal(await calls.arrow(), 'arrow of ada')
      assert.equal(await calls.whoami(), 'ada')
      await assert.rejects(calls.fails(), { code: 'INTERNAL' })
      // @ts-expect-error -- names with an underscore are private
      const { _internal } = calls
      assert.equal(_internal, undefined)
      // @ts-expect-error -- it would make the client a thenable
      assert.equal(calls.then, undefined)
    })

    it('has no other methods, and calls no accessors', async () => {
      await using reached = await reach(service.from('calc', () => new Calculator()))
      const calls = reached.calls as unknown as Record<string, (...args: unknown[]) => Promise<never>>
      const others = [
        'peeked',
        'hidden',
        'total',
        'user',
        'missing',
        'hasOwnProperty',
        'isPrototypeOf',
        'toLocaleString',
      ]
      for (const name of [...others, 'propertyIsEnumerable'])
        assert.equal((await safe(calls[name]!('add')))[0]?.code, 'METHOD_UNKNOWN', name)
      assert.deepEqual(Calculator.ran, [])
    })

    it('suggests the nearest methods of the instance', async () => {
      await using reached = await reach(service.from('calc', () => new Calculator()))
      const [error] = await safe((reached.calls as any).ad() as Promise<never>)
      assert.equal(error?.code, 'METHOD_UNKNOWN')
      assert.ok(error)
      assert.equal(error.status, 404)
      assert.deepEqual((error.data as { nearest: string[] }).nearest.slice(0, 1), ['add'])
    })

    it('may be a plain object, or one without a prototype', async () => {
      const bare = Object.assign(Object.create(null) as { two(): number }, { two: () => 2 })
      for (const instance of [{ two: () => 2 }, bare]) {
        await using reached = await reach(service.from('calc', () => instance))
        assert.equal(await reached.calls.two(), 2)
      }
    })
  })
