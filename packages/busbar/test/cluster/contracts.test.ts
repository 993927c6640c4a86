import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { client, safe } from '../../src/contract/client-entry.ts'
import { fn, service, stream } from '../../src/contract/index.ts'
import type { Implementation } from '../../src/contract/implementation.ts'
import { Shop } from '../hosts/support/shop.ts'
import { ClusterCaller, ClusterShop } from './support/cluster-shop.ts'
import { NatsServer, withoutNats } from './support/nats-server.ts'

const read = fn({ input: z.object({ id: z.int() }), output: z.object({ at: z.string() }) })
const first = service('shop', {
  read,
  price: fn({ input: z.object({ id: z.int() }), output: z.object({ at: z.string() }) }),
  ticks: stream({ input: z.int(), output: z.string() }),
})
/** `price` and `ticks` have changed, `describe` is new. */
const second = service('shop', {
  read: fn({ input: z.object({ id: z.int().describe('which') }), output: z.object({ at: z.string() }) }),
  price: fn({ input: z.object({ id: z.int(), currency: z.string() }), output: z.object({ at: z.string() }) }),
  ticks: stream({ input: z.int(), output: z.int() }),
  describe: fn({ input: z.object({ id: z.int() }), output: z.object({ at: z.string() }) }),
})

class FirstShop extends Shop {
  protected override implementation(): Implementation {
    const answer = async () => ({ at: this.name })
    const ticks = async function* (): AsyncGenerator<string> {
      yield 'first'
    }
    return first.implement({ read: answer, price: answer, ticks })
  }
}

class SecondShop extends Shop {
  protected override implementation(): Implementation {
    const answer = async () => ({ at: this.name })
    const ticks = async function* (): AsyncGenerator<number> {
      yield 2
    }
    return second.implement({ read: answer, price: answer, ticks, describe: answer })
  }
}

describe('two hosts with different contracts', { skip: withoutNats }, () => {
  it('get the calls that they can serve, and no others', async () => {
    await using nats = await NatsServer.start()
    await using _old = await ClusterShop.start(new FirstShop('old'), nats.config())
    await using _new = await ClusterShop.start(new SecondShop('new'), nats.config())
    await using _ = await ClusterCaller.open(nats.config(), 2)
    const [old, next] = [client(first), client(second)]
    for (let at = 0; at < 10; at++) {
      assert.deepEqual(await old.price({ id: 1 }), { at: 'old' })
      assert.deepEqual(await next.price({ id: 1, currency: 'EUR' }), { at: 'new' })
      assert.deepEqual(await next.describe({ id: 1 }), { at: 'new' })
      for await (const tick of old.ticks(1)) assert.equal(tick, 'first')
      for await (const tick of next.ticks(1)) assert.equal(tick, 2)
    }
    const seen = new Set<string>()
    for (let at = 0; at < 50; at++) seen.add((await old.read({ id: 1 })).at)
    assert.deepEqual([...seen].toSorted(), ['new', 'old'])
  })

  it('fail with a clear error when none of them fits', async () => {
    await using nats = await NatsServer.start()
    await using _host = await ClusterShop.start(new SecondShop('new'), nats.config())
    await using _ = await ClusterCaller.open(nats.config())
    const [error] = await safe(client(first).price({ id: 1 }))
    assert.equal(error?.code, 'CONTRACT_MISMATCH')
    assert.match(error.message, /^shop\.price has another contract at this host than at its caller: new on /)
    await assert.rejects(
      async () => {
        for await (const tick of client(first).ticks(1)) assert.equal(tick, 'never')
      },
      { code: 'CONTRACT_MISMATCH' },
    )
    assert.deepEqual(await client(first).read({ id: 1 }), { at: 'new' })
  })
})
