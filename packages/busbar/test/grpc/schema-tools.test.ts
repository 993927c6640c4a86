import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import * as z from 'zod'
import { type Contract, fn, many, service, stream } from '../../src/contract/index.ts'
import { toLock } from '../../src/contract/protobuf/lock.ts'
import { printProto } from '../../src/contract/protobuf/print.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { hasCommand } from '../support/has-command.ts'
import { testing } from './programs/interop/testing/contract.ts'
import { things } from './programs/app/things/contract.ts'

const run = promisify(execFile)
const protoc = process.env['BUSBAR_PROTOC'] ?? 'protoc'
const buf = process.env['BUSBAR_BUF'] ?? 'buf'

const Item = z.object({ id: z.string(), fooBar: z.string(), foo_bar: z.string() }).meta({ id: 'Item' })
const contracts = [
  things,
  testing,
  service('shop-cart', { empty: fn(), both: stream({ input: many(z.int()) }) }),
  // The method is named as its message.
  service('stock', { item: fn({ input: Item, output: Item }), items: stream({ output: Item }) }),
]

describe('protoc', { skip: await withoutProtoc() }, () => {
  for (const contract of contracts)
    it(`accepts the .proto of ${contract.name}, without a warning`, async () => {
      using folder = new TestFolder({ 'a.proto': printProto(toProtoFile(contract)) })
      const { stderr } = await run(protoc, ['-I', folder.path, '--descriptor_set_out', folder.at('set'), 'a.proto'])
      assert.equal(stderr, '')
    })
})

describe('buf', { skip: hasCommand(buf) ? false : 'no buf on PATH' }, () => {
  for (const contract of contracts)
    it(`accepts the .proto of ${contract.name}`, async () => {
      using folder = new TestFolder({ 'a.proto': printProto(toProtoFile(contract)) })
      await run(buf, ['build', folder.path])
    })

  const input = { a: z.string(), b: z.int(), c: z.object({ d: z.boolean() }).meta({ id: 'Inner' }) }
  const method = fn({ input: z.object(input), output: z.object({ e: z.string() }) })
  const first = service('s', { m: method })
  const lock = toLock(toProtoFile(first), undefined)
  const withInput = (fields: z.ZodRawShape): Contract =>
    service('s', { m: fn({ input: z.object(fields), output: z.object({ e: z.string() }) }) })

  /** What a contract becomes, and whether its clients can still call it. */
  const changes: readonly (readonly [what: string, later: Contract, isCompatible: boolean])[] = [
    ['fields in another order', withInput({ c: input.c, b: input.b, a: input.a }), true],
    ['a field more', withInput({ ...input, z: z.string() }), true],
    ['a field less', withInput({ a: input.a, c: input.c }), true],
    ['a field that is optional now', withInput({ ...input, a: z.string().optional() }), true],
    ['a method more', service('s', { m: method, n: fn() }), true],
    ['text that is a number now', withInput({ ...input, a: z.int() }), false],
    ['a number that is text now', withInput({ ...input, b: z.string() }), false],
    ['text that is a list now', withInput({ ...input, a: z.array(z.string()) }), false],
    ['a message that is another one now', withInput({ ...input, c: z.object({ d: z.string() }) }), false],
    [
      'a call that is a stream now',
      service('s', { m: stream({ input: z.object(input), output: z.object({ e: z.string() }) }) }),
      false,
    ],
  ]
  for (const [what, later, isCompatible] of changes)
    it(`${isCompatible ? 'accepts' : 'refuses'}, as the lock does: ${what}`, async () => {
      assert.equal(
        isAccepted(() => toProtoFile(later, { lock })),
        isCompatible,
        'the lock',
      )
      // What would be served without the lock, if it refuses.
      const file = toProtoFile(later, isCompatible ? { lock } : {})
      const before = new TestFolder({ 's.proto': printProto(toProtoFile(first)) })
      const after = new TestFolder({
        's.proto': printProto(file),
        'buf.yaml': 'version: v2\nbreaking:\n  use: [WIRE]\n',
      })
      using _ = before
      using __ = after
      const broken = await run(buf, ['breaking', after.path, '--against', before.path]).then(
        () => '',
        ({ stdout }: { stdout: string }) => stdout,
      )
      assert.equal(broken === '', isCompatible, broken)
    })
})

/** Debian has the files that others import in a package of their own. */
async function withoutProtoc(): Promise<string | false> {
  if (!hasCommand(protoc)) return 'no protoc on PATH'
  using folder = new TestFolder({ 'a.proto': 'syntax = "proto3"; import "google/protobuf/timestamp.proto";' })
  return await run(protoc, ['-I', folder.path, '--descriptor_set_out', folder.at('set'), 'a.proto']).then(
    () => false as const,
    () => 'this protoc has no google/protobuf/timestamp.proto: install libprotobuf-dev',
  )
}

function isAccepted(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'PROTO_INCOMPATIBLE')
    return false
  }
}
