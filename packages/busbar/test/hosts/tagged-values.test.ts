import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BusbarError } from '../../src/contract/errors.ts'
import {
  maxAppInputs,
  maxByteStrings,
  maxDigits,
  maxTags,
  maxValue,
  packetSize,
} from '../../src/mesh/links/limits/limits.ts'
import type { Link } from '../../src/mesh/links/link.ts'
import { createLink } from '../../src/mesh/links/live-link.ts'
import type { PacketTransport } from '../../src/mesh/links/packet-transport.ts'
import { loopbackTransports } from '../../src/mesh/transports/loopback.ts'
import { AppUse, type OneAppUse } from '../../src/shared/calls/app-use.ts'
import { Callee } from '../support/mesh/links.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

const listOf = (count: number, value: string): string => `[${`${value},`.repeat(count - 1)}${value}]`
const numbered = (count: number): string => `[${Array.from({ length: count }, (_, at) => `{"$bytes":${at}}`).join()}]`

/** A link to another app, and that app's end of it. */
function foreign(isForeign = true): { link: Link; peer: PacketTransport; callee: Callee; use: OneAppUse } {
  const callee = new Callee()
  const [near, peer] = loopbackTransports()
  const use = new AppUse(1).of('raw', 0, '')
  const link = createLink(near, { peer: -1, label: 'app raw', answer: callee.answer, isForeign, use })
  peer.open({ onPacket() {}, onPart() {}, onDrain() {}, onClose() {} })
  return { link, peer, callee, use }
}

const call = (value: string, id = 1, form = 2): string => `[1,${id},0,1,"shop","write",0,0,-1,0,${form},${value}]`

describe('the byte strings of a value', () => {
  it('arrive as two if it has the same bytes twice', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    const same = Buffer.from('abc')
    const { input } = (await caller.shop.write([same, { same }])) as { input: [Uint8Array, { same: Uint8Array }] }
    assert.deepEqual(input, [new Uint8Array(same), { same: new Uint8Array(same) }])
    input[0].fill(0)
    assert.deepEqual(input[1].same, new Uint8Array(same))
  })

  for (const isForeign of [true, false])
    it(`are named once, ${isForeign ? 'by another app' : 'within an app'}`, async () => {
      const twice = [
        `[${call('[{"$bytes":0},{"$bytes":0}]')}]`,
        `[${call('{"$map":[[1,{"$bytes":0}],[2,{"$bytes":0}]]}')}]`,
        `[${call('{"$bytes":1}')},${call('{"$bytes":0}', 2, 3)}]`,
      ]
      for (const text of twice) {
        const { link, peer } = foreign(isForeign)
        peer.send({ text, bytes: [new Uint8Array(9), new Uint8Array(9)] })
        assert.match((await link.closed).message, /sent an invalid value: .*\$bytes without a matching value/)
      }
    })

  it('are found where the call of the packet has its own', async () => {
    const { peer, callee } = foreign()
    const text = `[${call('{"$bytes":0}')},${call('[{"$bytes":1},{"$bytes":0}]', 2, 3)}]`
    peer.send({ text, bytes: [0, 1, 2].map((at) => new Uint8Array([at])) })
    assert.deepEqual((await callee.call(0)).payload, new Uint8Array([0]))
    assert.deepEqual((await callee.call(1)).payload, [new Uint8Array([2]), new Uint8Array([1])])
  })

  it('count with what each takes besides its bytes', async () => {
    const { peer, callee, use } = foreign()
    peer.send({ text: `[${call(numbered(1000))}]`, bytes: Array.from({ length: 1000 }, () => new Uint8Array(1)) })
    await callee.call()
    assert.ok(use.total('inputs') * 1024 > 200_000)
    assert.ok(use.total('inputs') * 1024 < maxAppInputs)
  })

  it('may not have more bytes than one value', async () => {
    const { link, peer } = foreign()
    const half = maxValue / 2 + packetSize * 2
    peer.send({ text: `[${call('[{"$bytes":0},{"$bytes":1}]')}]`, bytes: [new Uint8Array(half), new Uint8Array(half)] })
    assert.equal((await link.closed).message, 'app raw sent a packet that is too large')
  })
})

/** What is sent, its name, and a value that is refused at its sender. */
const tooMany: Record<string, readonly [text: string, parts: number, what: string, value: () => unknown]> = {
  'byte strings beside it': [
    numbered(maxByteStrings + packetSize),
    maxByteStrings + packetSize,
    'byte strings',
    () => Array.from({ length: maxByteStrings + 1 }, () => new Uint8Array(1)),
  ],
  'byte strings in its text': [
    listOf(maxByteStrings + packetSize, '{"$bytes":""}'),
    0,
    'byte strings',
    () => Array.from({ length: maxByteStrings + 1 }, () => new Uint8Array(0)),
  ],
  'byte strings with escapes in their tags': [
    listOf(maxByteStrings + packetSize, '{"\\u0024byte\\u0073":""}'),
    0,
    'byte strings',
    () => Array.from({ length: maxByteStrings + 1 }, () => new Uint8Array(0)),
  ],
  dates: [
    listOf(maxTags + packetSize, '{"$date":null}'),
    0,
    'tags',
    () => Array.from({ length: maxTags + 1 }, () => new Date(1)),
  ],
  digits: [
    listOf((maxDigits + packetSize) / 8192 + 1, `{"$bigint":"${'7'.repeat(8192)}"}`),
    0,
    'digits of bigints',
    () => Array(maxDigits / 8192 + 1).fill(10n ** 8192n),
  ],
}

describe('a value with too much that takes long to decode', () => {
  for (const [name, [text, parts, what, valueOf]] of Object.entries(tooMany))
    it(`ends the link of another app, and is refused at its sender: ${name}`, async () => {
      const { link, peer, callee } = foreign()
      peer.send({ text: `[${call(text)}]`, bytes: Array.from({ length: parts }, () => new Uint8Array(1)) })
      assert.equal((await link.closed).message, `app raw sent a value with too many ${what}`)
      assert.deepEqual(callee.calls, [])

      await using host = await ShopHost.start('far')
      using caller = await ShopCaller.open([host.address])
      await assert.rejects(
        caller.shop.write(valueOf()),
        ({ code, message }: BusbarError) =>
          code === 'INPUT_INVALID' && message.includes('that one value for another app may have'),
      )
      assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
      assert.equal(host.links.size, 1)
    })

  it('may have names that are none of a tag, however they begin', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    const paths = Object.fromEntries(Array.from({ length: maxByteStrings + 1 }, (_, at) => [`\\\\srv\\${at}`, at]))
    const others = Array.from({ length: maxByteStrings + 1 }, () => ({ '$a\n': 1 }))
    const long = { '\nk': 'x'.repeat(maxDigits + 1), '"': 'x'.repeat(maxDigits + 1) }
    for (const value of [paths, others, long])
      assert.deepEqual(((await caller.shop.write(value)) as { input: unknown }).input, value)
  })

  it('may have as much as the limits say', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    await caller.shop.write(Array.from({ length: maxByteStrings }, () => new Uint8Array(1)))
    await caller.shop.write(Array.from({ length: maxTags }, () => new Date(1)))
    await caller.shop.write(Array(maxDigits / 8192 - 1).fill(10n ** 8190n))
    assert.deepEqual(
      (host.done as unknown[][]).map((value) => value.length),
      [maxByteStrings, maxTags, maxDigits / 8192 - 1],
    )
  })
})
