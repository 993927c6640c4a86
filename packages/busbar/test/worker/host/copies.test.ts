import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { hosting, programs, type Program } from './support/app.ts'

const names = ['one', 'two', 'three']

function copies(program: string): Record<string, Program> {
  return Object.fromEntries(names.map((name) => [name, { program, env: { NAME: name } }]))
}

suite('a folder that is configured as several services', () => {
  test('gives each its own state in CommonJS, in what it loads later and in ES modules too', async () => {
    await using app = await hosting(copies('copied'))
    await app.json('two', '/later')
    await app.json('two', '/later-module')
    const answers = (await Promise.all(names.map((name) => app.json(name)))) as Record<string, unknown>[]
    const shared = answers.map((answer) => answer['shared'])
    for (const answer of answers) delete answer['shared']
    const file = join(programs, 'copied', 'index.js')
    const untouched = { count: 1, later: 0, laterModule: 0, inModule: 1, main: true, file, cached: true }
    const required = (count: number): object => ({ count, counter: { count }, file: true })
    assert.deepEqual(answers, [
      { ...untouched, name: 'one', required: required(1) },
      { ...untouched, name: 'two', count: 3, later: 1, laterModule: 1, inModule: 3, required: required(3) },
      { ...untouched, name: 'three', required: required(1) },
    ])
    assert.equal(new Set(shared).size, 3, 'a module of node_modules is one for all')
  })

  test('gives each its own state in ES modules, in what it imports later and in CommonJS too', async () => {
    await using app = await hosting(copies('copied-module'))
    await app.json('three')
    await app.json('three')
    const answers = await Promise.all(names.map((name) => app.json(name)))
    const url = pathToFileURL(join(programs, 'copied-module', 'index.ts')).href
    const facts = { lateSame: true, same: true, main: true, byPath: true, url }
    assert.deepEqual(answers, [
      { count: 1, legacy: 1, late: 1, ...facts, name: 'one' },
      { count: 1, legacy: 1, late: 1, ...facts, name: 'two' },
      { count: 3, legacy: 3, late: 3, ...facts, name: 'three' },
    ])
  })

  test('runs frameworks too', async () => {
    await using app = await hosting({
      a: 'fastify5',
      b: 'fastify5',
      c: 'express4',
      d: 'express4',
      e: 'export-hono',
      f: 'export-hono',
    })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) assert.ok('hello' in ((await app.json(name)) as object))
    const { states } = await app.stop()
    assert.deepEqual(states, Array.from({ length: 6 }).fill('stopped'))
  })
})
