import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { afterEach, describe, it } from 'node:test'
import { client, safe } from '../../src/contract/client-entry.ts'
import { defaultMaxInFlight, startHost } from '../../src/contract/host/typed-host.ts'
import { fn, service, stream, type } from '../../src/contract/index.ts'
import type { LocalEndpoint } from '../../src/mesh/routing/endpoint.ts'
import type { Link } from '../../src/mesh/links/link.ts'
import { createLink } from '../../src/mesh/links/live-link.ts'
import { loopbackTransports } from '../../src/mesh/transports/loopback.ts'
import { Router } from '../../src/mesh/routing/router.ts'
import { answerTypedCalls } from '../../src/mesh/typed/answer-calls.ts'
import { CallContexts } from '../../src/mesh/typed/call-contexts.ts'
import { offerTypedCalls } from '../../src/mesh/typed/mesh-transport.ts'
import { refuse } from '../support/mesh/links.ts'

const shop = service('shop', {
  read: fn({ input: type<unknown>(), output: type<unknown>(), idempotent: true }),
  write: fn({ input: type<unknown>(), output: type<unknown>() }),
  home: fn({ input: type<{ user: string }>(), output: type<number>(), key: ({ user }) => user }),
  limited: fn({ input: type<unknown>(), output: type<unknown>(), idempotent: true, timeout: 60 }),
  ticks: stream({ output: type<number>() }),
})

const died = { code: 'WORKER_DIED', message: 'the worker was killed' } as const

/**
 * Instances of the shop in other workers. Each records its calls, and those in `hangs` do not
 * respond.
 */
class Shops {
  readonly here = new Router(['shop'])
  readonly done: { readonly worker: number; readonly input: unknown }[] = []
  readonly links: Link[] = []
  readonly aborted: string[] = []
  readonly #callees: Link[] = []
  readonly #withdraw: Disposable
  /** By worker: whether it answers. */
  readonly hangs = new Set<number>()
  #began: (() => void) | undefined

  constructor() {
    this.#withdraw = offerTypedCalls({ router: this.here, maxHops: 16, validate: 'always' })
  }

  async open(): Promise<number> {
    const worker = this.links.length
    const contexts = new CallContexts('shop')
    const options = { name: 'shop', log: console, clone: false, maxInFlight: defaultMaxInFlight, client }
    const typed = await startHost(this.#implementation(worker), { ...options, enter: contexts.enter })
    const enter: LocalEndpoint['enter'] = (scope, run) => contexts.enterScope(scope, run)
    const router = new Router(['shop'])
    router.add({ at: 'here', service: 'shop', server: createServer(), typed, state: 'serving', enter })
    const [near, far] = loopbackTransports()
    this.#callees.push(createLink(far, { peer: 99, answer: answerTypedCalls({ router, validate: 'always' }) }))
    const link = createLink(near, { peer: worker, answer: refuse })
    this.links.push(link)
    this.here.addRemote({ at: 'link', service: 'shop', worker, index: worker, state: 'serving', typed: true, link })
    return worker
  }

  /** Resolves to the worker that starts the next call. */
  async began(): Promise<number> {
    const count = this.done.length
    if (count === 0) await new Promise<void>((resolve) => (this.#began = resolve))
    return this.done.at(-1)!.worker
  }

  drain(worker: number): void {
    this.#callees[worker]!.drain()
  }

  #implementation(worker: number) {
    const act = async (input: unknown, { signal }: { signal: AbortSignal }): Promise<unknown> => {
      signal.addEventListener('abort', () => this.aborted.push((signal.reason as { code: string }).code))
      this.done.push({ worker, input })
      this.#began?.()
      return this.hangs.has(worker) ? await new Promise(() => {}) : { worker, input }
    }
    return shop.implement({
      read: act,
      write: act,
      limited: act,
      home: async (input, context) => ((await act(input, context)) as { worker: number }).worker,
      async *ticks(_, context) {
        await act('ticks', context)
        yield worker
        await new Promise(() => {})
      },
    })
  }

  [Symbol.dispose](): void {
    for (const link of this.links) link.close(died)
    this.#withdraw[Symbol.dispose]()
  }
}

describe('a call whose instance dies', () => {
  let shops: Shops
  afterEach(() => shops[Symbol.dispose]())

  async function two(): Promise<Shops> {
    shops = new Shops()
    await shops.open()
    await shops.open()
    return shops
  }

  it('is retried on another instance if it is idempotent, with the same input', async () => {
    await two()
    shops.hangs.add(0).add(1)
    const input = { list: [1], bytes: new Uint8Array(5000).fill(3) }
    const answer = client(shop).read(input)
    const first = await shops.began()
    input.list.push(2)
    shops.hangs.clear()
    shops.links[first]!.close(died)
    assert.deepEqual(await answer, { worker: 1 - first, input: { list: [1], bytes: new Uint8Array(5000).fill(3) } })
    assert.equal(shops.done.length, 2)
  })

  it('fails if that instance dies, too', async () => {
    await two()
    shops.hangs.add(0).add(1)
    const answer = safe(client(shop).read(1))
    const first = await shops.began()
    shops.links[first]!.close(died)
    while (shops.done.length < 2) await new Promise((resolve) => setImmediate(resolve))
    shops.links[1 - first]!.close(died)
    const [error] = await answer
    assert.equal(error?.code, 'WORKER_DIED')
    assert.match(error.message, new RegExp(`shop\\.read, which worker ${1 - first} was answering`))
  })

  it('fails without a retry if it is not idempotent', async () => {
    await two()
    shops.hangs.add(0).add(1)
    const answer = safe(client(shop).write(1))
    const first = await shops.began()
    shops.links[first]!.close(died)
    const [error] = await answer
    assert.equal(error?.code, 'WORKER_DIED')
    assert.equal(error.service, 'shop')
    assert.deepEqual(shops.done, [{ worker: first, input: 1 }])
  })

  it('fails its stream', async () => {
    await two()
    const ticks = client(shop).ticks()
    const { value: worker } = await ticks.next()
    const next = ticks.next()
    shops.links[worker as number]!.close(died)
    await assert.rejects(next, { code: 'WORKER_DIED' })
    assert.deepEqual(await ticks.next(), { done: true, value: undefined })
  })

  it('is retried in any case if no instance had started it', async () => {
    await two()
    // The callers do not know about the death yet.
    shops.drain(0)
    shops.drain(1)
    const third = await shops.open()
    const calls = await Promise.allSettled(Array.from({ length: 6 }, async (_, at) => await client(shop).write(at)))
    for (const call of calls) if (call.status === 'rejected') assert.equal(call.reason.code, 'SERVICE_UNAVAILABLE')
    for (const { worker } of shops.done) assert.equal(worker, third)
    const inputs = shops.done.map(({ input }) => input)
    assert.equal(new Set(inputs).size, inputs.length)
    assert.deepEqual(await client(shop).write('after'), { worker: third, input: 'after' })
  })

  it('is also retried as a stream if no instance had started it', async () => {
    await two()
    shops.drain(0)
    // One goes to each instance, since no caller knows about the death yet.
    const streams = [client(shop).ticks(), client(shop).ticks()]
    const first = await Promise.all(streams.map((stream) => stream.next()))
    assert.deepEqual(
      first.map(({ value }) => value),
      [1, 1],
    )
    for (const stream of streams) await stream.return?.()
  })

  it('keeps its deadline when it is retried', async () => {
    await two()
    shops.hangs.add(0).add(1)
    const answer = safe(client(shop).limited(1))
    shops.links[await shops.began()]!.close(died)
    assert.equal((await answer)[0]?.code, 'DEADLINE_EXCEEDED')
  })
})

describe('a call whose caller is gone', () => {
  it('aborts the signal of its method, also without a deadline', async () => {
    using shops = new Shops()
    await shops.open()
    shops.hangs.add(0)
    const answer = safe(client(shop).write('left alone'))
    await shops.began()
    shops.links[0]!.close({ code: 'CALL_ABORTED', message: 'the caller ends' })
    assert.equal((await answer)[0]?.code, 'CALL_ABORTED')
    while (shops.aborted.length === 0) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(shops.aborted, ['CALL_ABORTED'])
  })
})

describe('a method with a key', () => {
  it('is answered by the same instance for the same key, and by another one after its death', async () => {
    using shops = new Shops()
    for (let at = 0; at < 4; at++) await shops.open()
    const { home } = client(shop)
    const users = Array.from({ length: 40 }, (_, at) => ({ user: `user ${at}` }))
    const homes = await Promise.all(users.map((user) => home(user)))
    assert.deepEqual(await Promise.all(users.map((user) => home(user))), homes)
    assert.equal(new Set(homes).size, 4)
    shops.links[0]!.close(died)
    const after = await Promise.all(users.map((user) => home(user)))
    for (const [at, before] of homes.entries()) if (before !== 0) assert.equal(after[at], before)
    assert.ok(!after.includes(0))
  })
})
