/** One of two hosts stops in order, under calls that nobody repeats. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { safe } from '../../src/contract/client-entry.ts'
import type { ClusterConfig } from '../../src/shared/hosts.ts'
import { ClusterCaller } from '../cluster/support/cluster-shop.ts'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { TestApp, pollUntil } from '../support/app/test-app.ts'
import { unless } from '../support/mesh/accelerators.ts'
import { FaultProxy } from './support/fault-proxy.ts'
import { exportPortOf, program, startFar } from './support/two-apps.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

/** Runs `call` on `lanes` lanes until `act` is over, and for some more calls. */
async function during(act: () => Promise<void>, lanes: number, call: () => Promise<void>): Promise<void> {
  let count = 0
  let isOver = false
  const lane = async (): Promise<void> => {
    while (!isOver) {
      await call()
      count++
    }
  }
  const calls = Promise.all(Array.from({ length: lanes }, lane))
  await pollUntil(() => count > 5 * lanes)
  await act()
  const before = count
  await pollUntil(() => count > before + 5 * lanes)
  isOver = true
  await calls
}

describe('a host that stops while another one serves', () => {
  it('fails no typed call, and no stream', async () => {
    for (let round = 0; round < 3; round++) {
      await using first = await ShopHost.start('first')
      await using second = await ShopHost.start('second')
      using caller = await ShopCaller.open([first.address, second.address])
      first.delay = second.delay = 3
      const failures: unknown[] = []
      const stop = async (): Promise<void> => {
        await first.links.drain(30_000, true)
        first.links.close({ code: 'SERVICE_UNAVAILABLE', message: 'worker 1 has stopped' })
      }
      let next = 0
      await during(stop, 6, async () => {
        const [error] = await safe(next++ % 3 === 0 ? readAll(caller.shop.ticks(5)) : caller.shop.write(next))
        if (error !== undefined && error !== null) failures.push(error)
      })
      assert.deepEqual(failures, [])
      const executed = [...first.done, ...second.done]
      assert.equal(new Set(executed).size, executed.length)
      assert.ok(first.done.length > 0 && second.done.length > 0)
    }
  })

  it('answers calls until its callers have confirmed that they know', async () => {
    await using first = await ShopHost.start('first')
    using caller = await ShopCaller.open([first.address])
    const [error] = await safe(caller.shop.write('before'))
    assert.equal(error, undefined)
    const drained = first.links.drain(30_000, true)
    assert.deepEqual(await caller.shop.write('meanwhile'), { at: 'first', input: 'meanwhile' })
    await drained
    assert.equal((await safe(caller.shop.write('after')))[0]?.code, 'SERVICE_UNAVAILABLE')
    assert.deepEqual(first.done, ['before', 'meanwhile'])
  })

  it('ends when its callers have read their answers, over a slow link', async () => {
    await using host = await ShopHost.start('far')
    await using proxy = await FaultProxy.open(host.port)
    using caller = await ShopCaller.open([{ ...host.address, port: proxy.port }])
    await caller.linked()
    host.answer = 'x'.repeat(1024 ** 2)
    // Until after they have confirmed that they know.
    host.delay = 1_000
    proxy.weather = { delay: 0, rate: 5_000_000 }
    const calls = Promise.all(Array.from({ length: 20 }, (_, at) => safe(caller.shop.write(at))))
    await host.began(20)
    await host.links.drain(30_000, true)
    await host.links.finish(30_000)
    host.links.close({ code: 'SERVICE_UNAVAILABLE', message: 'worker 1 has stopped' })
    const codes = (await calls).map(([error]) => error?.code)
    assert.deepEqual(codes, Array(20).fill(undefined))
  })

  it('does not wait for callers that have read their answers', async () => {
    await using host = await ShopHost.start('far')
    await using proxy = await FaultProxy.open(host.port)
    using caller = await ShopCaller.open([{ ...host.address, port: proxy.port }])
    await caller.linked()
    await caller.shop.write('before')
    await host.links.finish(30_000)
    proxy.freeze()
    await host.links.finish(2 ** 31 - 1)
    assert.equal(host.links.size, 1)
  })

  it('ends in time when a caller confirms nothing', async () => {
    await using host = await ShopHost.start('far')
    await using proxy = await FaultProxy.open(host.port)
    using _ = await ShopCaller.open([{ ...host.address, port: proxy.port }])
    proxy.freeze()
    await host.links.drain(300, true)
    assert.equal(host.links.size, 1)
  })

  // Without accelerators, the gateway keeps connections to the program. Their host cannot tell that
  // no more requests come on them, and refuses these when the program stops.
  const skip = unless('stream', 'exchange')
  for (const run of ['shared', 'process'] as const)
    it(`fails no request with a body through the gateway of its caller, to a program in ${run}`, { skip }, async () => {
      const services = { stock: { file: program('stock.js'), run } }
      const hosts = [await startFar({ services }), await startFar({ services })]
      const addresses = hosts.map((far) => ({ protocol: 'tcp', host: '127.0.0.1', port: exportPortOf(far) }) as const)
      await using near = await TestApp.start({
        name: 'near',
        services: { web: program('web.js') },
        remotes: [{ name: 'stock', addresses }],
        gateway: { routes: [{ host: undefined, prefix: '/stock', service: 'stock' }] },
      })
      const body = 'z'.repeat(30_000)
      const failures: string[] = []
      await during(
        () => hosts[0]![Symbol.asyncDispose](),
        6,
        async () => {
          const response = await fetch(`${near.url}/stock/echo`, { method: 'POST', body })
          const text = await response.text()
          if (text !== body) failures.push(`${response.status} ${text}`)
          await sleep(2)
        },
      )
      await hosts[1]![Symbol.asyncDispose]()
      assert.deepEqual(failures, [])
    })
})

/**
 * A host with streams that its instance ends. Some of its links end in the worker of the instance,
 * the others in a shared worker, which passes their streams on.
 */
class StreamingHost implements AsyncDisposable {
  readonly #far: TestApp
  readonly #callers = new AsyncDisposableStack()
  readonly #codes: Promise<unknown>[] = []

  private constructor(far: TestApp) {
    this.#far = far
  }

  static async start(run: 'process' | 'thread', cluster?: ClusterConfig): Promise<StreamingHost> {
    const stopTimeout = 4_000
    const shop = { file: program('endless/index.ts'), kind: 'typed', run, stopTimeout } as const
    const services = { stock: { file: program('stock.js'), run: 'shared' }, shop } as const
    const inCluster = cluster && { ...cluster, services: ['shop'] }
    const far = await (inCluster === undefined
      ? startFar({ stopTimeout, services })
      : TestApp.start({ name: 'far', stopTimeout, services, cluster: inCluster }))
    const host = new StreamingHost(far)
    for (let at = 0; at < 6; at++) await host.#open(cluster)
    return host
  }

  /** The codes with which the streams have ended. */
  async stop(): Promise<readonly unknown[]> {
    await this.#far[Symbol.asyncDispose]()
    return await Promise.all(this.#codes)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#callers.disposeAsync()
    await this.#far[Symbol.asyncDispose]()
  }

  async #open(cluster: ClusterConfig | undefined): Promise<void> {
    const address = { protocol: 'tcp', host: '127.0.0.1', port: cluster ? 0 : exportPortOf(this.#far) } as const
    const caller = await (cluster === undefined ? ShopCaller.open([address]) : ClusterCaller.open(cluster))
    this.#callers.use(caller)
    await caller.linked()
    const ticks = caller.shop.ticks(1)[Symbol.asyncIterator]()
    await ticks.next()
    this.#codes.push(
      ticks.next().then(
        () => 'ended',
        ({ code }: { code: unknown }) => code,
      ),
    )
  }
}

describe('a host that stops, and no other one serves', () => {
  // A link that ended before the instances would end them with `LINK_LOST`.
  const byInstance = Array(6).fill('SERVICE_UNAVAILABLE')

  it('ends the streams that a worker passes on when their instance ends', async () => {
    await using process = await StreamingHost.start('process')
    await using thread = await StreamingHost.start('thread')
    assert.deepEqual(await Promise.all([process.stop(), thread.stop()]), [byInstance, byInstance])
  })

  it('does so over NATS', { skip: withoutNats }, async () => {
    await using nats = await NatsServer.start()
    await using other = await NatsServer.start()
    await using process = await StreamingHost.start('process', nats.config())
    await using thread = await StreamingHost.start('thread', other.config())
    assert.deepEqual(await Promise.all([process.stop(), thread.stop()]), [byInstance, byInstance])
  })
})

async function readAll(values: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of values);
}
