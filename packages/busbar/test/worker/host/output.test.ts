import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { another, hosting } from './support/app.ts'

const outputToo = another('output')

const two = {
  one: { program: 'output', env: { NAME: 'one' } },
  two: { program: outputToo, env: { NAME: 'two' } },
}

suite('what a program prints', () => {
  test('comes as lines under its own name, each stream apart, whoever else prints in the thread', async () => {
    await using app = await hosting(two)
    await Promise.all([app.get('one', '/console'), app.get('two', '/console')])
    assert.deepEqual(app.lines('one'), ['log of one'])
    assert.deepEqual(app.lines('two'), ['log of two'])
    assert.deepEqual(app.lines('one', 'stderr'), ['error of one'])
    assert.deepEqual(app.lines(undefined), [])
  })

  test('is caught where it goes straight to the descriptor', async () => {
    await using app = await hosting(two)
    await app.get('two', '/descriptor')
    assert.deepEqual(app.lines('two'), ['writeSync of two', 'bytes of two', 'writev of two', 'writeFile of two'])
    await app.get('one', '/callback')
    assert.deepEqual(app.lines('one'), ['é', 'write of one', '3 and 13'])
    await app.get('one', '/pipe')
    assert.equal(app.lines('one').at(-1), 'piped text')
  })

  test('is whole lines, whichever pieces and bytes it was written in', async () => {
    await using app = await hosting(two)
    await app.get('one', '/pieces')
    assert.deepEqual(app.lines('one'), ['halb – ganz', 'one', 'two', 'three'])
  })

  test('is said without its newline when the program stops, and not before', async () => {
    await using app = await hosting(two)
    await app.get('one', '/rest')
    assert.deepEqual(app.lines('one'), [])
    await app.stop()
    assert.deepEqual(app.lines('one'), ['no end'])
  })

  test('is bounded: a line goes on in the next record after 64 Ki characters', async () => {
    await using app = await hosting(two)
    await app.get('one', '/long')
    assert.deepEqual(
      app.lines('one').map(({ length }) => length),
      [65_536, 65_536, 18_928],
    )
    await app.get('two', '/endless')
    assert.deepEqual(app.lines('two'), ['y'.repeat(65_536)])
  })

  test("has the level that a JSON logger gave it, else its stream's", async () => {
    await using app = await hosting(two)
    await app.get('one', '/levels')
    await app.get('one', '/console')
    const levels = app.records.map(({ level }) => level)
    assert.deepEqual(levels, ['debug', 'warn', 'fatal', 'fatal', 'info', 'error'])
  })

  test('into a file stays in the file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'busbar-'))
    const file = join(folder, 'x')
    try {
      await using app = await hosting({ one: { program: 'output', env: { FILE: file } } })
      await app.get('one', '/file')
      assert.equal(await readFile(file, 'utf8'), 'not for the log\n')
      assert.deepEqual(app.records, [])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test("comes with Fastify's own log lines, which pino writes to the descriptor", async () => {
    await using app = await hosting({ web: 'fastify5', shop: 'koa' })
    await app.get('web')
    const { service, level } = await app.line(/"msg":"request completed"/)
    assert.deepEqual([service, level], ['web', 'info'])
  })
})
