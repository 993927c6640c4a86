import assert from 'node:assert/strict'
import { safe } from '../../../../src/contract/client-entry.ts'
import type { Cases } from '../case.ts'

export const calls: Cases = {
  'a call answers with what the method returns': async ({ probe }) => {
    assert.equal(await probe.add({ a: 1, b: 2 }), 3)
  },
  'a default of the schema is filled in for the method': async ({ probe }) => {
    assert.equal(await probe.add({ a: 1 }), 2)
  },
  'an input that the schema refuses is answered with the path of every fault': async ({ probe }) => {
    const [error] = await safe(probe.add({ a: 'x', b: {} } as never))
    assert.equal(error?.code, 'INPUT_INVALID')
    assert.equal(error?.status, 422)
    if (error?.code === 'INPUT_INVALID')
      assert.deepEqual(
        error.data.issues.map(({ path }) => path),
        [['a'], ['b']],
      )
  },
  'a missing input is refused like a wrong one': async ({ probe }) => {
    const [error] = await safe(probe.add(undefined as never))
    assert.equal(error?.code, 'INPUT_INVALID')
  },
  'a declared error arrives with its code, its data and its status': async ({ probe }) => {
    const [error] = await safe(probe.find({ id: 7 }))
    assert.equal(error?.code, 'NOT_FOUND')
    if (error?.code === 'NOT_FOUND') assert.deepEqual(error.data, { id: 7 })
    assert.equal(error?.status, 404)
    assert.equal(error?.declared, true)
    assert.equal(error?.service, 'probe')
  },
  'a declared error without data has the status of its declaration': async ({ probe }) => {
    const [error] = await safe(probe.find({ id: 0 }))
    assert.equal(error?.code, 'TAKEN')
    assert.equal(error?.status, 409)
    assert.equal(error?.data, undefined)
  },
  'fields in path and query are what the schema says they are': async ({ probe }) => {
    const input = { id: 7, q: '12', tags: ['a', '1'] }
    assert.deepEqual(await probe.mapped(input), input)
    assert.deepEqual(await probe.mapped({ id: 7, tags: ['a'] }), { id: 7, tags: ['a'] })
    assert.deepEqual(await probe.mapped({ id: 7, q: 'ä/?&=%' }), { id: 7, q: 'ä/?&=%' })
  },
  'a field in the path and others in the body are one input': async ({ probe }) => {
    const input = { id: 'a b', when: new Date(0) }
    assert.deepEqual(await probe.put(input), input)
  },
  'a method without a result answers undefined, whatever it returns': async ({ probe, diary }) => {
    assert.equal(await probe.silent({ secret: 1 }), undefined)
    assert.ok(diary.has('silent'))
  },
  'what the output schema does not name stays inside': async ({ probe }) => {
    assert.deepEqual(await probe.strip(), { open: 'yes' })
  },
  'a result that the output schema refuses is a fault of the service, and stays inside': async ({ probe, log }) => {
    const [error] = await safe(probe.wrong())
    assert.equal(error?.code, 'INTERNAL')
    assert.doesNotMatch(error.message, /secret|expected/)
    assert.match(log.lines.join(), /n: /)
  },
  'whatever a method throws is a fault with an id, and stays inside': async ({ probe, log }) => {
    for (const kind of ['error', 'text', 'undefined', 'sync', 'null-prototype'] as const) {
      const [error] = await safe(probe.throws(kind))
      assert.equal(error?.code, 'INTERNAL', kind)
      assert.equal(error.status, 500)
      assert.doesNotMatch(error.message, /secret/)
      if (error.code === 'INTERNAL') assert.ok(log.lines.some((line) => line.includes(error.data.id)))
    }
  },
  'a method may say who is not let in, and that there is no room': async ({ probe }) => {
    for (const [code, status] of [
      ['UNAUTHENTICATED', 401],
      ['FORBIDDEN', 403],
      ['RESOURCE_EXHAUSTED', 503],
    ] as const) {
      const [error] = await safe(probe.refuses(code))
      assert.equal(error?.code, code)
      assert.equal(error.status, status)
    }
  },
  'the method knows what it is called as, and what the caller said beside its input': async ({ probe }) => {
    const context = await probe.context(undefined, { metadata: { 'X-Word': 'hello' }, timeout: 10_000 })
    assert.deepEqual(
      { ...context, caller: undefined },
      { service: 'probe', method: 'context', word: 'hello', limited: true, caller: undefined, aborted: false },
    )
  },
  'many calls at once each get their own answer': async ({ probe }) => {
    const sums = await Promise.all(Array.from({ length: 200 }, (_, a) => probe.add({ a, b: 1 })))
    assert.deepEqual(
      sums,
      Array.from({ length: 200 }, (_, a) => a + 1),
    )
  },
  'a client is no promise': async ({ probe }) => {
    assert.equal(await (probe as unknown), probe)
    assert.equal((probe as unknown as { then?: unknown }).then, undefined)
    assert.equal(JSON.stringify(probe), '{}')
  },
  'metadata that no header can hold is refused by its name': async ({ probe }) => {
    const cases: [name: string, value: unknown][] = [
      ['x word', 'a'],
      ['', 'a'],
      ['x:word', 'a'],
      ['x-ünicode', 'a'],
      ['x-word', 'a\nb'],
      ['x-word', 'a\0b'],
      ['x-word', '€'],
      ['x-word', ' a'],
      ['x-word', 7],
      ['x-word', undefined],
    ]
    for (const [name, value] of cases) {
      const metadata = { [name]: value } as never
      const [error] = await safe(probe.context(undefined, { metadata }))
      assert.equal(error?.code, 'INPUT_INVALID', `${name}: ${String(value)}`)
      if (error?.code === 'INPUT_INVALID') assert.deepEqual(error.data.issues[0]?.path, ['metadata', name])
      await assert.rejects(probe.count({ to: 1 }, { metadata }).next(), { code: 'INPUT_INVALID' })
    }
  },
  'metadata arrives as it was given, by names in lower case, the last of equal names': async ({ probe }) => {
    for (const value of ['', 'a b', 'é', '"q"', 'a,b', '%41'])
      assert.equal((await probe.context(undefined, { metadata: { 'x-word': value } }))['word'], value)
    const twice = { 'X-Word': 'first', 'x-word': 'second' }
    assert.equal((await probe.context(undefined, { metadata: twice }))['word'], 'second')
  },
}
