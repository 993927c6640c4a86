import assert from 'node:assert/strict'
import { safe } from '../../../../src/contract/client-entry.ts'
import type { Cases } from '../case.ts'

export const calls: Cases = {
  'a call resolves to the method’s result': async ({ probe }) => {
    assert.equal(await probe.add({ a: 1, b: 2 }), 3)
  },
  'the method gets the defaults of the schema': async ({ probe }) => {
    assert.equal(await probe.add({ a: 1 }), 2)
  },
  'an invalid input is refused with the path of every issue': async ({ probe }) => {
    const [error] = await safe(probe.add({ a: 'x', b: {} } as never))
    assert.equal(error?.code, 'INPUT_INVALID')
    assert.equal(error?.status, 422)
    if (error?.code === 'INPUT_INVALID')
      assert.deepEqual(
        error.data.issues.map(({ path }) => path),
        [['a'], ['b']],
      )
  },
  'a missing input is refused like an invalid one': async ({ probe }) => {
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
  'fields in path and query have the types of the schema': async ({ probe }) => {
    const input = { id: 7, q: '12', tags: ['a', '1'] }
    assert.deepEqual(await probe.mapped(input), input)
    assert.deepEqual(await probe.mapped({ id: 7, tags: ['a'] }), { id: 7, tags: ['a'] })
    assert.deepEqual(await probe.mapped({ id: 7, q: 'ä/?&=%' }), { id: 7, q: 'ä/?&=%' })
  },
  'a field of the path and those of the body form one input': async ({ probe }) => {
    const input = { id: 'a b', when: new Date(0) }
    assert.deepEqual(await probe.put(input), input)
  },
  'a method without an output resolves to undefined, whatever it returns': async ({ probe, record }) => {
    assert.equal(await probe.silent({ secret: 1 }), undefined)
    assert.ok(record.has('silent'))
  },
  'undeclared fields of a result are removed': async ({ probe }) => {
    assert.deepEqual(await probe.strip(), { open: 'yes' })
  },
  'an invalid result is an INTERNAL error, and only the log has the details': async ({ probe, log }) => {
    const [error] = await safe(probe.wrong())
    assert.equal(error?.code, 'INTERNAL')
    assert.doesNotMatch(error.message, /secret|expected/)
    assert.match(log.lines.join(), /n: /)
  },
  'an exception is an INTERNAL error with an id, and only the log has the details': async ({ probe, log }) => {
    for (const kind of ['error', 'text', 'undefined', 'sync', 'null-prototype'] as const) {
      const [error] = await safe(probe.throws(kind))
      assert.equal(error?.code, 'INTERNAL', kind)
      assert.equal(error.status, 500)
      assert.doesNotMatch(error.message, /secret/)
      if (error.code === 'INTERNAL') assert.ok(log.lines.some((line) => line.includes(error.data.id)))
    }
  },
  'a method may throw UNAUTHENTICATED, FORBIDDEN and RESOURCE_EXHAUSTED': async ({ probe }) => {
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
  'the context has the names of service and method, and the metadata': async ({ probe }) => {
    const context = await probe.context(undefined, { metadata: { 'X-Word': 'hello' }, timeout: 10_000 })
    assert.deepEqual(
      { ...context, caller: undefined },
      { service: 'probe', method: 'context', word: 'hello', limited: true, caller: undefined, aborted: false },
    )
  },
  'each of many concurrent calls gets its own result': async ({ probe }) => {
    const sums = await Promise.all(Array.from({ length: 200 }, (_, a) => probe.add({ a, b: 1 })))
    assert.deepEqual(
      sums,
      Array.from({ length: 200 }, (_, a) => a + 1),
    )
  },
  'a client is not thenable': async ({ probe }) => {
    assert.equal(await (probe as unknown), probe)
    assert.equal((probe as unknown as { then?: unknown }).then, undefined)
    assert.equal(JSON.stringify(probe), '{}')
  },
  'invalid metadata is refused, and the error names it': async ({ probe }) => {
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
  'metadata arrives unchanged by lower-case names; the last of equal names wins': async ({ probe }) => {
    for (const value of ['', 'a b', 'é', '"q"', 'a,b', '%41'])
      assert.equal((await probe.context(undefined, { metadata: { 'x-word': value } }))['word'], value)
    const twice = { 'X-Word': 'first', 'x-word': 'second' }
    assert.equal((await probe.context(undefined, { metadata: twice }))['word'], 'second')
  },
}
