import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { WireWriter } from '../../src/contract/protobuf/wire-writer.ts'

/** The writer of protobuf-es writes the same. */
describe('the writer of protobuf', () => {
  const own = new WireWriter()
  const same = (write: (writer: WireWriter | BinaryWriter) => unknown, what: string): void => {
    const other = new BinaryWriter()
    write(own)
    write(other)
    assert.deepEqual(own.finish(), other.finish(), what)
  }

  it('of texts of every length, with characters of every size', () => {
    for (const character of ['a', '\0', '\u007F', 'é', '€', '𝄞', '\uD800'])
      for (const length of [0, 1, 31, 32, 33, 42, 43, 63, 64, 126, 127, 128, 129, 5461, 5462, 16383, 16384]) {
        same((writer) => writer.string(character.repeat(length)), `${length} of ${character}`)
        same((writer) => writer.string(`${'a'.repeat(length)}${character}`), `${character} behind ${length}`)
      }
  })

  it('of numbers', () => {
    const edges = [0, -0, 1, 127, 128, 16383, 16384, 2 ** 21, 2 ** 28 - 1, 2 ** 28, 2 ** 31 - 1]
    for (const value of [...edges, ...edges.map((edge) => -edge - 1)]) same((writer) => writer.int32(value), `${value}`)
    for (const value of [...edges, 2 ** 31, 2 ** 32 - 1]) same((writer) => writer.uint32(value), `${value}`)
    const powers = Array.from({ length: 53 }, (_, exponent) => 2 ** exponent)
    for (const value of [...edges, ...powers, ...powers.map((power) => power - 1), Number.MAX_SAFE_INTEGER])
      for (const signed of [value, -value]) same((writer) => writer.int64(signed), `${signed}`)
    for (const value of [0, -0, 1.5, NaN, Infinity, Number.MIN_VALUE, Number.MAX_VALUE])
      same((writer) => writer.double(value), `${value}`)
    for (const value of [true, false]) same((writer) => writer.bool(value), `${value}`)
  })

  it('of parts of every length within each other', () => {
    for (const length of [0, 1, 125, 126, 127, 128, 16380, 16384, 2_097_150])
      same((writer) => {
        writer.fork().tag(1, WireType.LengthDelimited).fork().bytes(new Uint8Array(length).fill(7)).join()
        writer.tag(5, WireType.Varint).uint32(3).join().tag(536_870_911, WireType.LengthDelimited)
      }, `${length}`)
  })

  it('lends what it has written until the next message', () => {
    const lent = own.skip(3).string('abc').lend()
    assert.deepEqual([...lent], [0, 0, 0, 3, 97, 98, 99])
    const kept = own.skip(2).finish()
    own.string('xyz').lend()
    assert.deepEqual([...kept], [0, 0])
  })
})
