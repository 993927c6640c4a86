import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../delete-accelerators.ts', import.meta.url))

test('the mesh works the same without the folder of an accelerator', async () => {
  const { code, output } = await runWithout('exchange', 'packages/busbar/test/mesh/mesh.test.ts')
  assert.equal(code, 0, output)
  assert.match(output, /✔ without the accelerator exchange/)
})

test('a test of the deleted accelerator fails', async () => {
  const { code, output } = await runWithout('exchange', 'packages/busbar/test/accelerators/exchange/exchange.test.ts')
  assert.equal(code, 1, output)
  assert.match(output, /✖ without the accelerator exchange/)
})

interface Run {
  readonly code: number
  readonly output: string
}

function runWithout(accelerator: string, file: string): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>()
  execFile(process.execPath, [script, `--only=${accelerator}`, file], (error, stdout, stderr) => {
    resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
  })
  return promise
}
