/** A program sees the values of a main thread at every placement, as under `node program.js`. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { TestApp } from '../support/app/test-app.ts'
import { PlainProgram } from '../support/app/plain-program.ts'

const programs = `${import.meta.dirname}/programs/main-thread`

async function ask(port: number): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${port}`)).text()
}

for (const run of ['shared', 'thread', 'process'] as const)
  suite(`in ${run} form`, () => {
    test('a program sees the values of a main thread, and its own threads see what it passed to them', async () => {
      const file = `${programs}/index.mjs`
      await using plain = await PlainProgram.start(file)
      await using app = await TestApp.start({ services: { it: { file, run } } })
      const expected = JSON.parse(await ask(plain.port)) as { atLoad: { named: unknown } }
      assert.deepEqual(JSON.parse(await ask(app.port)), expected)
      const main = { isMainThread: true, parentPort: null, resourceLimits: {}, threadId: 0, workerData: null }
      assert.deepEqual(expected.atLoad.named, { ...main, threadName: '' })
    })

    test("Node's own example of a thread runs its main branch, and its worker branch in the thread", async () => {
      await using app = await TestApp.start({ services: { it: { file: `${programs}/example.cjs`, run } } })
      assert.equal(await ask(app.port), 'parsed the script')
    })
  })
