import assert from 'node:assert/strict'
import { executionAsyncResource } from 'node:async_hooks'
import { readFile } from 'node:fs/promises'
import test from 'node:test'

const source = new URL('../../src/worker/', import.meta.url)

/** What Node runs a tick in. */
async function nextTick(): Promise<object> {
  const { promise, resolve } = Promise.withResolvers<object>()
  process.nextTick(() => resolve(executionAsyncResource()))
  return await promise
}

test('what a worker keeps is a tick of the same shape as every later one', async () => {
  const shape = await import('../../src/worker/tick-shape.ts')
  const later = await nextTick()
  assert(shape.keptTick !== undefined)
  assert(Object.hasOwn(later, 'callback'), 'a tick says what it calls')
  assert.deepEqual(Reflect.ownKeys(shape.keptTick), Reflect.ownKeys(later))
  assert.notEqual(shape.keptTick, later)
})

for (const file of ['main.ts', 'process.ts'])
  test(`a worker keeps its tick before it loads anything that could be collected: ${file}`, async () => {
    const text = await readFile(new URL(file, source), 'utf8')
    assert.match(/^import .*$/m.exec(text)?.[0] ?? '', /tick-shape/)
  })
