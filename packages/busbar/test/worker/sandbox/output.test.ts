import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { copyProgram, hostPrograms } from './support/hosted-app.ts'

const otherProgram = copyProgram('output')

const two = {
  one: { program: 'output', env: { NAME: 'one' } },
  two: { program: otherProgram, env: { NAME: 'two' } },
}

suite('the output of a program', () => {
  test('is logged in lines under its own name, per stream, whatever other programs print', async () => {
    await using app = await hostPrograms(two)
    await Promise.all([app.get('one', '/console'), app.get('two', '/console')])
    assert.deepEqual(app.lines('one'), ['log of one'])
    assert.deepEqual(app.lines('two'), ['log of two'])
    assert.deepEqual(app.lines('one', 'stderr'), ['error of one'])
    assert.deepEqual(app.lines(undefined), [])
  })

  test('is captured when it is written to the descriptor', async () => {
    await using app = await hostPrograms(two)
    await app.get('two', '/descriptor')
    assert.deepEqual(app.lines('two'), ['writeSync of two', 'bytes of two', 'writev of two', 'writeFile of two'])
    await app.get('one', '/callback')
    assert.deepEqual(app.lines('one'), ['é', 'write of one', '3 and 13'])
    await app.get('one', '/pipe')
    assert.equal(app.lines('one').at(-1), 'piped text')
  })

  test('is logged in whole lines, however its bytes are divided into writes', async () => {
    await using app = await hostPrograms(two)
    await app.get('one', '/pieces')
    assert.deepEqual(app.lines('one'), ['halb – ganz', 'one', 'two', 'three'])
  })

  test('without a final newline is logged when the program stops', async () => {
    await using app = await hostPrograms(two)
    await app.get('one', '/rest')
    assert.deepEqual(app.lines('one'), [])
    await app.stop()
    assert.deepEqual(app.lines('one'), ['no end'])
  })

  test('is split: a line continues in the next record after 64 Ki characters', async () => {
    await using app = await hostPrograms(two)
    await app.get('one', '/long')
    assert.deepEqual(
      app.lines('one').map(({ length }) => length),
      [65_536, 65_536, 18_928],
    )
    await app.get('two', '/endless')
    assert.deepEqual(app.lines('two'), ['y'.repeat(65_536)])
  })

  test("has the level that a JSON logger wrote, or else its stream's", async () => {
    await using app = await hostPrograms(two)
    await app.get('one', '/levels')
    await app.get('one', '/console')
    const levels = app.records.map(({ level }) => level)
    assert.deepEqual(levels, ['debug', 'warn', 'fatal', 'fatal', 'info', 'error'])
  })

  test('to a file is not logged', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'busbar-'))
    const file = join(folder, 'x')
    try {
      await using app = await hostPrograms({ one: { program: 'output', env: { FILE: file } } })
      await app.get('one', '/file')
      assert.equal(await readFile(file, 'utf8'), 'not for the log\n')
      assert.deepEqual(app.records, [])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test("includes Fastify's log lines, which pino writes to the descriptor", async () => {
    await using app = await hostPrograms({ web: 'fastify5', shop: 'koa' })
    await app.get('web')
    const { service, level } = await app.line(/"msg":"request completed"/)
    assert.deepEqual([service, level], ['web', 'info'])
  })
})
