import assert from 'node:assert/strict'
import { safe } from '../../../../src/contract/client-entry.ts'
import type { Cases } from '../case.ts'

class Product {
  name = 'lamp'
}

const throwing = {
  get name() {
    throw new TypeError('not yet')
  },
}

const supported: Readonly<Record<string, unknown>> = {
  text: 'ä€😀\u0000"\\\u2028',
  numbers: [0, 1.5, -1, 1e300, Number.MAX_SAFE_INTEGER],
  'special numbers': [NaN, Infinity, -Infinity, -0],
  booleans: [true, false, null],
  undefined: [undefined, 1, undefined],
  bigint: { big: 2n ** 80n, negative: -1n },
  dates: [new Date(0), new Date(-1), new Date(NaN), new Date(8.64e15)],
  bytes: new Uint8Array([0, 1, 255]),
  'no bytes': new Uint8Array(),
  map: new Map<unknown, unknown>([
    ['a', 1],
    [{ key: 1 }, new Map([[1, new Date(1)]])],
  ]),
  set: new Set([1, 'a', new Date(5)]),
  'objects that look like tags': [{ $date: 'x' }, { $plain: { $map: 1 } }, { $: 1 }, { $error: 1 }, { $date: 1, b: 2 }],
  nested: { a: [{ b: { c: [new Set([new Map()])] } }] },
  'unusual keys': { '': 1, 'a.b': 2, constructor: 3, toString: 4, ä: 5, '0': 6 },
  'empty values': [[], {}, new Map(), new Set(), ''],
}

export const values: Cases = {
  ...Object.fromEntries(
    Object.entries(supported).map(([name, value]) => [
      `carries ${name} both ways`,
      async ({ probe }) => assert.deepStrictEqual(await probe.echo(value), value),
    ]),
  ),
  'carries undefined both ways': async ({ probe }) => {
    assert.equal(await probe.echo(undefined), undefined)
  },
  'an undefined field arrives as undefined': async ({ probe }) => {
    const back = (await probe.echo({ a: undefined, b: 1 })) as { a?: unknown; b: number }
    assert.equal(back.a, undefined)
    assert.equal(back.b, 1)
  },
  'a Buffer arrives as a copy': async ({ probe, backend }) => {
    const back = (await probe.echo(Buffer.from('abc'))) as Uint8Array
    assert.equal(Buffer.from(back).toString(), 'abc')
    if (!backend.aliases) assert.equal(back.buffer.byteLength, 3)
  },
  'an object without a prototype keeps its fields': async ({ probe }) => {
    const back = (await probe.echo(Object.assign(Object.create(null) as object, { a: 1 }))) as { a: number }
    assert.equal(back.a, 1)
  },
  'carries five megabytes of text and of bytes': async ({ probe }) => {
    const bytes = new Uint8Array(5_000_000).fill(7)
    const back = (await probe.echo({ text: 'x'.repeat(5_000_000), bytes })) as { text: string; bytes: Uint8Array }
    assert.equal(back.text.length, 5_000_000)
    assert.equal(Buffer.compare(back.bytes, bytes), 0)
  },
  'refuses unsupported values, and the error has their path': async ({ probe, backend }) => {
    if (backend.aliases) return
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    const refused: [unknown, (string | number)[]][] = [
      [{ a: [1, () => 1] }, ['a', 1]],
      [{ a: Symbol('x') }, ['a']],
      [new Product(), []],
      [{ product: new Product() }, ['product']],
      [{ e: new Error('x') }, ['e']],
      [[/x/], [0]],
      [{ p: Promise.resolve() }, ['p']],
      [JSON.parse('{"a":{"__proto__":{"x":1}}}'), ['a', '__proto__']],
    ]
    for (const [value, path] of refused) {
      const [error] = await safe(probe.echo(value))
      assert.equal(error?.code, 'INPUT_INVALID')
      if (error?.code === 'INPUT_INVALID') assert.deepEqual(error.data.issues[0]?.path, path)
    }
    assert.equal((await safe(probe.echo(circular)))[0]?.code, 'INPUT_INVALID')
    assert.equal((await safe(probe.echo(throwing)))[0]?.code, 'INPUT_INVALID')
  },
  'an unsupported result is an INTERNAL error': async ({ probe, backend }) => {
    if (backend.aliases) return
    assert.equal((await safe(probe.unsupported()))[0]?.code, 'INTERNAL')
  },
  'a method gets its own copy of the input': async ({ probe, backend }) => {
    const input = { list: [1, 2, 3] }
    assert.deepEqual(await probe.mutate(input), [1, 2, 3, 4])
    assert.deepEqual(input.list, backend.aliases ? [1, 2, 3, 4] : [1, 2, 3])
  },
  'a caller gets its own copy of the result': async ({ probe, backend }) => {
    const first = await probe.shared()
    first.hits.push(2)
    assert.deepEqual((await probe.shared()).hits, backend.aliases ? [1, 2] : [1])
  },
}
