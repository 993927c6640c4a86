/** `ready: 'signal'`: a program counts as started when it has said that it is ready. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarError } from '../../../src/contract/errors.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/** Answers with what it knows of `process.send`. It signals some time after it listens. */
const program = (signal: string): string => `
import { createServer } from 'node:http'
let warm = false
createServer((_, response) => response.end(JSON.stringify({ warm, send: typeof process.send }))).listen(3000, () => {
  setTimeout(() => {
    warm = true
    ${signal}
  }, 300)
})`

const index = new URL('../../../src/index.ts', import.meta.url).href

const signals = {
  "process.send('ready')": "process.send('ready')",
  'ready() of busbar': `import('${index}').then(({ ready }) => ready())`,
}

async function answerOf(app: TestApp): Promise<unknown> {
  return await (await fetch(app.url, { headers: { connection: 'close' } })).json()
}

for (const run of ['thread', 'process'] as const)
  for (const [name, signal] of Object.entries(signals))
    test(`a program is started when it has called ${name} (${run})`, async () => {
      using folder = new TestFolder({ 'index.mjs': program(signal) })
      const service = { file: folder.at('index.mjs'), run, ready: 'signal' } as const
      await using app = await TestApp.start({ services: { web: service } })
      assert.deepEqual(await answerOf(app), { warm: true, send: 'function' })
    })

test('a program that only listens is started at once, and sees no process.send', async () => {
  using folder = new TestFolder({
    'index.mjs': program("process.send?.('ready')"),
    'other.mjs': program("process.send('ready')"),
  })
  const other = { file: folder.at('other.mjs'), ready: 'signal' } as const
  await using app = await TestApp.start({ services: { web: folder.at('index.mjs'), other } })
  assert.equal(((await answerOf(app)) as { send: string }).send, 'undefined')
})

test('the callback of process.send is called, and messages without a receiver are accepted', async () => {
  using folder = new TestFolder({
    'index.mjs': `
import { createServer } from 'node:http'
process.send({ type: 'process:msg', data: 1 }, () => process.send('ready'))
createServer((_, response) => response.end('fine')).listen(3000)`,
  })
  const service = { file: folder.at('index.mjs'), ready: 'signal' } as const
  await using app = await TestApp.start({ services: { web: service } })
  assert.equal((await fetch(app.url)).status, 200)
})

test('a program that never signals fails to start, with the reason', async () => {
  using folder = new TestFolder({ 'index.mjs': program('') })
  const service = { file: folder.at('index.mjs'), ready: 'signal', startTimeout: 1500 } as const
  await assert.rejects(
    TestApp.start({ services: { web: service } }),
    (error) => BusbarError.is(error, 'PROGRAM_START_TIMEOUT') && error.message.includes('did not signal'),
  )
})
