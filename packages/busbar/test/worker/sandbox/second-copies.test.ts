import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { startFailureOf, hostPrograms, programs, type Program } from './support/hosted-app.ts'

const names = ['one', 'two', 'three']

function copies(program: string): Record<string, Program> {
  return Object.fromEntries(names.map((name) => [name, { program, env: { NAME: name } }]))
}

suite('a folder that is configured as several services of one thread', () => {
  test('gives each service its own state of ES modules, also of those that are imported later', async () => {
    await using app = await hostPrograms(copies('copied-module'))
    await app.json('three')
    await app.json('three')
    const answers: Record<string, unknown>[] = []
    for (const name of names) answers.push((await app.json(name)) as Record<string, unknown>)
    const url = pathToFileURL(join(programs, 'copied-module', 'index.ts')).href
    const facts = { lateSame: true, same: true, main: true, byPath: true, url }
    assert.deepEqual(answers, [
      { count: 1, data: 1, late: 1, ...facts, name: 'one', shared: 3 },
      { count: 1, data: 1, late: 1, ...facts, name: 'two', shared: 4 },
      { count: 3, data: 3, late: 3, ...facts, name: 'three', shared: 5 },
    ])
  })

  test('may use frameworks', async () => {
    const programs = { a: 'fastify5', b: 'fastify5', c: 'koa', d: 'koa', e: 'export-hono', f: 'export-hono' }
    await using app = await hostPrograms(programs)
    for (const name of Object.keys(programs)) assert.ok('hello' in ((await app.json(name)) as object))
    const { states } = await app.stop()
    assert.deepEqual(states, Array.from({ length: 6 }).fill('stopped'))
  })

  test('does not start if its entry is CommonJS, since the second service would be the first one', async () => {
    const { code, message } = await startFailureOf(copies('copied'))
    assert.equal(code, 'PROGRAM_THREW')
    assert.match(message, /service 'two': .*copied\/index\.js is loaded as CommonJS/)
  })

  test('lets only the first service import CommonJS', async () => {
    await using app = await hostPrograms(copies('copied/imports.mjs'))
    assert.equal(await app.json('one'), 'loaded')
    for (const name of ['two', 'three'])
      assert.match(String(await app.json(name)), new RegExp(`service '${name}': .*legacy\\.cjs is loaded as CommonJS`))
  })

  test('lets no service require an ES module, which Node would not load again for the second', async () => {
    await using app = await hostPrograms(copies('copied/requires.mjs'))
    for (const name of names) assert.match(String(await app.json(name)), /state\.mjs is loaded as CommonJS/)
  })
})
