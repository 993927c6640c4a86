import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BusbarError } from '../../src/contract/errors.ts'
import { maxElements, maxNames, packetSize } from '../../src/mesh/links/limits/limits.ts'
import { createLink } from '../../src/mesh/links/live-link.ts'
import { loopbackTransports } from '../../src/mesh/transports/loopback.ts'
import { CallRecorder, head, refuse } from '../support/mesh/links.ts'
import { RawPeer } from './support/raw-peer.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

const range = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** As JSON: what a hostile peer sends is never parsed, and takes long to make otherwise. */
const tooLarge: Record<string, readonly [text: (more: number) => string, what: string]> = {
  'an object with too many names': [
    (more) => `{${range(maxNames + 1 + more, (at) => `"${at.toString(36)}":1`).join()}}`,
    'different names',
  ],
  'objects with the same names after too many different ones': [
    (more) => `[${range((maxNames + more) / 4 + 1, (at) => `{"k${at}":1,"a":1,"b":1,"c":1}`).join()}]`,
    'different names',
  ],
  'lists with too many elements': [
    (more) => `[${'[1,2,3,4,5,6,7],'.repeat((maxElements + more) / 8 + 1)}1]`,
    'elements',
  ],
}

describe('a value for another app', () => {
  const fitting: Record<string, () => unknown> = {
    'a million numbers': () => range(1_000_000, (at) => at),
    '100,000 rows of 10 fields': () =>
      range(100_000, (id) => ({ id, a: 'a', b: true, c: null, d: 1.5, e: 'x', f: 'y', g: 2, h: 'z', i: id % 7 })),
    'rows with optional fields': () =>
      range(20_000, (id) => Object.fromEntries(range(10, (n) => [`f${n}`, id]).filter((_, n) => (id >> n) % 2 === 0))),
    '100,000 names in one object': () => Object.fromEntries(range(100_000, (at) => [`k${at}`, 1])),
    'texts with quotes, commas and colons': () => range(20_000, (at) => `"${at}":{,[\\"`.repeat(4)),
  }
  for (const [name, make] of Object.entries(fitting))
    it(`arrives, and so does the answer: ${name}`, async () => {
      await using host = await ShopHost.start('far')
      using caller = await ShopCaller.open([host.address])
      const input = make()
      // A comparison of values takes seconds.
      assert.ok(JSON.stringify(await caller.shop.write(input)) === JSON.stringify({ at: 'far', input }))
    })

  for (const [name, [textOf, what]] of Object.entries(tooLarge))
    it(`fails its call only, if it is ${name}`, async () => {
      await using host = await ShopHost.start('far')
      using caller = await ShopCaller.open([host.address])
      const value: unknown = JSON.parse(textOf(0))
      const told =
        (expected: string) =>
        ({ code, message }: BusbarError): boolean =>
          code === expected && message.includes(what) && message.includes('that one value for another app may have')
      await assert.rejects(caller.shop.write(value), told('INPUT_INVALID'))
      host.answer = value
      await assert.rejects(caller.shop.write(1), told('INTERNAL'))
      host.answer = undefined
      assert.deepEqual(await caller.shop.write(2), { at: 'far', input: 2 })
      assert.deepEqual(host.done, [1, 2])
      assert.equal(host.links.size, 1)
    })
})

describe('an app that sends a value that is too large', () => {
  for (const [name, [textOf, what]] of Object.entries(tooLarge)) {
    it(`loses its link, and others are answered: ${name}`, async () => {
      await using host = await ShopHost.start('far')
      using caller = await ShopCaller.open([host.address])
      await using peer = await RawPeer.open(host.port)
      peer.sendText(`[[1,1,0,1,"shop","write",0,0,-1,0,1,${textOf(packetSize)}]]`)
      await peer.closed
      assert.deepEqual(host.done, [])
      assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
    })

    it(`loses its link if it does so in an answer: ${name}`, async () => {
      const [near, far] = loopbackTransports()
      const link = createLink(near, { peer: -1, label: 'app far', answer: refuse, isForeign: true })
      far.open({ onPacket() {}, onPart() {}, onDrain() {}, onClose() {} })
      const call = new CallRecorder()
      link.open(head, 1, true, call)
      far.send({ text: `[[2,-1,1,1,${textOf(packetSize)}]]`, bytes: [] })
      assert.equal((await link.closed).message, `app far sent a value with too many ${what}`)
      assert.equal((await call.over)?.code, 'LINK_LOST')
      assert.deepEqual(call.events, [['error', 'LINK_LOST']])
    })
  }
})
