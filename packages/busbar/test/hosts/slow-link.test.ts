import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fair, FaultProxy } from './support/fault-proxy.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

test('over a slow link, calls are answered while a stream goes on', async () => {
  await using host = await ShopHost.start('far')
  await using proxy = await FaultProxy.open(host.port)
  using caller = await ShopCaller.open([{ protocol: 'tcp', host: '127.0.0.1', port: proxy.port }])
  await caller.linked()
  proxy.weather = { delay: 0, rate: 2_000 }
  const count = 600
  const begun = Promise.withResolvers<void>()
  let read = 0
  const stream = (async () => {
    for await (const _ of caller.shop.ticks(count)) if (++read === 32) begun.resolve()
  })()
  await begun.promise
  const between: number[] = []
  for (let at = 0; at < 3; at++) {
    assert.deepEqual(await caller.shop.write(at), { at: 'far', input: at })
    between.push(read)
  }
  assert.ok(between.at(-1)! < count, `calls were answered after ${between.join(', ')} values of ${count}`)
  proxy.weather = fair
  await stream
  assert.equal(read, count)
})
