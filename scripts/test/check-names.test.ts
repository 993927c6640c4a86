import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TestFolder } from '../../packages/busbar/test/support/app/test-folder.ts'
import { findRetiredNames } from '../checks/check-names.ts'

async function problemsOf(file: string, text: string): Promise<string[]> {
  using folder = new TestFolder({ [file]: text })
  return await findRetiredNames(folder.path)
}

test('this repository has no retired name', async () => {
  assert.deepEqual(await findRetiredNames(fileURLToPath(new URL('../../', import.meta.url))), [])
})

test('a retired file name is refused, in the lab too', async () => {
  const file = 'packages/lab/src/workshop.ts'
  assert.deepEqual(await problemsOf(file, ''), [`${file}: src/workshop.ts is a retired name of a file: choose another`])
})

test('a file below a retired folder is refused', async () => {
  assert.match(
    (await problemsOf('packages/busbar/src/supervisor/vessels/thread.ts', '')).join(),
    /src\/supervisor\/vessels/,
  )
})

test('a retired identifier is refused, with its line', async () => {
  const file = 'packages/busbar/src/mesh/calls.ts'
  const problems = await problemsOf(file, 'const a = 1\nexport class VesselEvents {}\n')
  assert.deepEqual(problems, [
    `${file}:2: VesselEvents is a retired name: \`git log -S VesselEvents\` shows what replaced it`,
  ])
})

test('a longer identifier is accepted', async () => {
  assert.deepEqual(await problemsOf('packages/busbar/src/mesh/calls.ts', 'export class MyVesselEvents2 {}\n'), [])
})
