import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Metadata, status } from '@grpc/grpc-js'
import { printProto } from '../../src/contract/protobuf/print.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import type { TestApp } from '../support/app/test-app.ts'
import { things } from './programs/app/things/contract.ts'
import { failureOf, type Stub, stubOf, unary } from './support/stub.ts'
import { addressOf, startThings } from './support/things-app.ts'

const proto = printProto(toProtoFile(things))

const thing = {
  id: -5,
  title: 'ü',
  is_new: true,
  price: -0.5,
  count: 2 ** 40,
  total: '123456789012345678901234567890',
  made: { seconds: 1_704_164_645, nanos: 678_000_000 },
  raw: Buffer.from([0, 1, 255]),
  note: 'n',
  parts: [{ name: 'a', weight: 1 }, { name: 'b' }],
  sizes: [1, -2, 3],
  labels: { a: 'b', ü: '' },
  mixed: { listValue: { values: [{ stringValue: 'x' }] } },
}

for (const run of ['shared', 'thread', 'process'] as const)
  describe(`grpc-js calls a typed service (${run})`, () => {
    let app: TestApp
    let stub: Stub

    before(async () => {
      app = await startThings({ run })
      stub = await stubOf(proto, 'test.v1.ThingService', addressOf(app))
    })
    after(async () => {
      stub.close()
      await app[Symbol.asyncDispose]()
    })

    it('with a field of every kind', async () => {
      const answer = await unary(stub, 'Echo', thing)
      const { parts, mixed, first, owner, ...plain } = answer
      const { parts: sent, mixed: _, ...expected } = thing
      assert.deepEqual({ ...plain, raw: Buffer.from(plain.raw) }, expected)
      assert.deepEqual([parts[0].weight, parts[1].name, parts.length], [1, 'b', sent.length])
      assert.deepEqual([mixed.listValue.values[0].stringValue, first, owner], ['x', null, undefined])
    })

    it('and gets the statuses of errors, with details', async () => {
      const missing = await failureOf(unary(stub, 'GetThing', { id: 'none' }))
      assert.equal(missing.code, status.NOT_FOUND)
      assert.match(String(missing.metadata.get('grpc-status-details-bin')[0]), /google\.rpc\.ErrorInfo.*NOT_FOUND/s)
      assert.equal((await failureOf(unary(stub, 'GetThing', { id: 'busy' }))).code, status.ALREADY_EXISTS)
      const invalid = await failureOf(unary(stub, 'GetThing', { id: '' }))
      assert.equal(invalid.code, status.INVALID_ARGUMENT)
      assert.match(String(invalid.metadata.get('grpc-status-details-bin')[0]), /google\.rpc\.BadRequest/)
    })

    it('and learns nothing of an unexpected failure', async () => {
      const { code, details } = await failureOf(unary(stub, 'Breaks', {}))
      assert.equal(code, status.INTERNAL)
      assert.doesNotMatch(details, /secret/)
    })

    it('with metadata and a deadline', async () => {
      const metadata = new Metadata()
      metadata.set('x-shop', 'one')
      metadata.set('constructor', 'two')
      const deadline = Date.now() + 60_000
      const { metadata: seen, time_left: left } = await unary(stub, 'Context', {}, metadata, { deadline })
      const { 'x-shop': shop, constructor, 'x-forwarded-proto': proto } = seen
      assert.deepEqual([shop, constructor, proto], ['one', 'two', 'http'])
      assert.ok(left > 0 && left < 61_000, `${left}`)
    })

    it('and its deadline ends the method', async () => {
      const { cancels } = await counts(stub)
      // A call that is late on a busy machine never begins.
      await until(async () => {
        const { code } = await failureOf(unary(stub, 'Slow', { ms: 60_000 }, { deadline: Date.now() + 100 }))
        assert.equal(code, status.DEADLINE_EXCEEDED)
        return (await counts(stub)).cancels > cancels
      })
    })

    it('and its cancel ends a stream', async () => {
      const { cancels } = await counts(stub)
      const stream = stub['Numbers']({ to: 1_000_000_000, size: 1000 })
      stream.on('error', () => {})
      await new Promise((resolve) => stream.once('data', resolve))
      stream.cancel()
      await until(async () => (await counts(stub)).cancels > cancels)
    })

    it('and reads a stream to its end', async () => {
      const values = await (
        stub['Numbers']({ to: 500, size: 1000 }) as { toArray(): Promise<{ n: number }[]> }
      ).toArray()
      assert.deepEqual(
        values.map(({ n }) => n),
        Array.from({ length: 500 }, (_, at) => at + 1),
      )
    })

    it('and hears that a method does not exist', async () => {
      const other = await stubOf(proto.replaceAll('Breaks', 'Missing'), 'test.v1.ThingService', addressOf(app))
      assert.equal((await failureOf(unary(other, 'Missing', {}))).code, status.UNIMPLEMENTED)
      other.close()
    })
  })

async function counts(stub: Stub): Promise<{ cancels: number }> {
  return { cancels: (await unary(stub, 'Cancels', {})).value }
}

/** Within the time limit of the test. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
}
