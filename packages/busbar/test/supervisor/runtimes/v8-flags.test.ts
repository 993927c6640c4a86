import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const wasm = `${import.meta.dirname}/programs/wasm.js`

test('V8 does not collect the WebAssembly code that threads of an app that serves share', async () => {
  const alone = await promisify(execFile)(process.execPath, [wasm], { env: { ...process.env, PORT: '1' } })
  assert.match(alone.stdout, /\[wasm-gc\] Triggering GC/)
  using folder = new TestFolder({
    'web/index.mjs': readFileSync(wasm, 'utf8'),
    'busbar.config.json': { gateway: { port: 0 }, services: { web: { path: './web', run: 'thread', instances: 2 } } },
  })
  await using busbar = new BusbarProcess(['start', folder.path])
  const answer = await fetch(await busbar.url(), { headers: { connection: 'close' } })
  assert.equal(await answer.text(), 'made')
  busbar.child.kill('SIGTERM')
  const { code, stdout } = await busbar.ended
  assert.equal(code, 0)
  assert.doesNotMatch(stdout, /wasm-gc/)
})
