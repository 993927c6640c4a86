import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { maxLeaves } from '../../src/mesh/links/limits/limits.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

/** So many that what they have in common is sent once, from the second run on. */
const run = 40

describe('calls in a row to another app', () => {
  const alike: Record<string, (at: number) => unknown> = {
    'with the same fields': (at) => ({ id: at, name: `n${at}`, isOpen: at % 2 === 0, note: null }),
    'with nested objects and lists': (at) => ({
      id: at,
      items: Array.from({ length: at % 4 }, (_, item) => ({ sku: `s${item}`, sizes: [item, at] })),
      where: { city: { name: 'é\u0000"\\\ud800' } },
    }),
    'with empty lists': (at) => ({ id: at, none: [] }),
    'with keys that are numbers or words of JSON': (at) => ({ 7: at, 'a"b': 1, 'a\nb': at, null: 2 }),
    'of which one has another field': (at) => (at === 9 ? { id: at, more: 1 } : { id: at }),
    'of which one lacks a field': (at) => (at === 9 ? { id: at } : { id: at, more: 1 }),
    'with fields in another order': (at) => (at % 2 === 0 ? { a: at, b: 1 } : { b: 1, a: at }),
    'with an object where others have a text': (at) => ({ id: at % 3 === 0 ? { at } : String(at) }),
    'with lists of unlike elements': (at) => ({ list: at % 5 === 0 ? [1, { at }] : [{ at }] }),
    'with undefined, dates and bytes': (at) => ({
      id: at,
      gone: undefined,
      when: new Date(at),
      bytes: new Uint8Array([at]),
    }),
    'with -0 and infinite numbers': (at) => ({ id: at, number: [-0, NaN, Infinity, 0][at % 4] }),
    'with keys that objects inherit': (at) => ({ toString: at, valueOf: 'x' }),
    'with keys that look like tags': (at) => (at % 2 === 0 ? { $date: 'x' } : { $bytes: at }),
    'that are empty objects, lists or primitives': (at) => [{}, [], at, 'x', null, undefined, [at]][at % 7],
    'with many fields': (at) => Object.fromEntries(Array.from({ length: 30 + at }, (_, key) => [`k${key}`, at])),
    'with a long text': (at) => ({ id: at, text: 'x'.repeat(at * 300) }),
    'with deep nesting': (at) => Array.from({ length: 3 * (at % 10) }).reduce<unknown>((inner) => ({ inner }), { at }),
  }
  for (const [name, make] of Object.entries(alike))
    it(`arrive as they were sent, and so do the answers: ${name}`, async () => {
      await using host = await ShopHost.start('far')
      using caller = await ShopCaller.open([host.address])
      for (let round = 0; round < 3; round++) {
        host.done.length = 0
        const inputs = Array.from({ length: run }, (_, at) => make(at))
        const answers = await Promise.all(inputs.map((input) => caller.shop.write(input)))
        assert.deepEqual(host.done, inputs)
        const wanted = inputs.map((input) => ({ at: 'far', input }))
        assert.deepEqual(answers, wanted)
      }
    })

  it('are more frames than one if they have more leaves than a frame may have', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    const inputs = Array.from({ length: 1_200 }, (_, id) => ({ id, list: Array.from({ length: 60 }, (_, n) => n) }))
    assert.ok(inputs.length * 62 > maxLeaves)
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all(inputs.map((input) => caller.shop.write(input)))
      const wanted = inputs.map((input) => ({ at: 'far', input }))
      assert.deepEqual(answers, wanted)
    }
  })

  it('arrive as they were when the call was made', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    for (let round = 0; round < 3; round++) {
      const shared = { id: 0, list: [0] }
      const answers = Array.from({ length: run }, (_, at) => {
        shared.id = at
        shared.list.push(at)
        return caller.shop.write(shared)
      })
      shared.id = -1
      for (const [at, answer] of (await Promise.all(answers)).entries()) {
        const { input } = answer as { input: typeof shared }
        assert.deepEqual([input.id, input.list.length, input.list.at(-1)], [at, at + 2, at])
      }
    }
  })

  it('fail alone if a value cannot be sent', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    const throwing = Object.defineProperty({ id: 0 }, 'id', {
      enumerable: true,
      get: () => {
        throw new Error('it is not there')
      },
    })
    for (let round = 0; round < 3; round++) {
      const inputs = Array.from({ length: run }, (_, id): unknown => ({ id }))
      inputs[5] = { id: () => 1 }
      inputs[6] = throwing
      const results = await Promise.allSettled(inputs.map((input) => caller.shop.write(input)))
      const failed = results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))
      assert.deepEqual(failed, [5, 6])
    }
  })

  it('are the same for random values', async (t) => {
    const random = new SeededRandom()
    t.diagnostic(`seed ${random.seed}`)
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    for (let round = 0; round < 60; round++) {
      const kinds = Array.from({ length: 1 + random.below(3) }, () => random.below(1_000_000))
      const inputs = Array.from({ length: run }, () => randomValue(new SeededRandom(random.of(kinds)), random, 3))
      const answers = await Promise.all(inputs.map((input) => caller.shop.write(input)))
      const wanted = inputs.map((input) => ({ at: 'far', input }))
      assert.deepEqual(answers, wanted)
    }
  })
})

/** `shape` decides what there is, `leaf` what it holds and how long lists are. */
function randomValue(shape: SeededRandom, leaf: SeededRandom, depth: number): unknown {
  const kind = shape.below(depth === 0 ? 4 : 7)
  if (kind === 0) return leaf.below(1_000) - 500
  if (kind === 1) return `text ${leaf.below(50)}`
  if (kind === 2) return leaf.of([true, false, null])
  if (kind === 3) return leaf.below(20) === 0 ? new Date(leaf.below(1_000)) : leaf.below(9) / 8
  if (kind === 4) {
    const seed = shape.below(1_000_000)
    return Array.from({ length: leaf.below(4) }, () => randomValue(new SeededRandom(seed), leaf, depth - 1))
  }
  const fields = Array.from({ length: shape.below(4) }, (_, at): [string, unknown] => [
    `f${at}${shape.below(3)}`,
    randomValue(shape, leaf, depth - 1),
  ])
  return Object.fromEntries(fields)
}
