import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TestFolder } from '../../packages/busbar/test/support/app/test-folder.ts'
import { findProblems } from '../checks/check-imports.ts'

const source = 'packages/busbar/src'

/** `files`: paths below the sources, with their contents, which are made long enough. */
async function problemsOf(files: Readonly<Record<string, string>>, padding = 30): Promise<string[]> {
  const entries = Object.entries(files).map(([path, text]) => [`${source}/${path}`, text + '\n'.repeat(padding)])
  using folder = new TestFolder(Object.fromEntries(entries))
  return await findProblems(folder.path)
}

test('the imports of this repository are in order', async () => {
  assert.deepEqual(await findProblems(fileURLToPath(new URL('../../', import.meta.url))), [])
})

test('a cycle of types is refused', async () => {
  const problems = await problemsOf({
    'mesh/a.ts': "import type { B } from './b.ts'\nexport interface A { b: B }\n",
    'mesh/b.ts': "import type { A } from './a.ts'\nexport interface B { a: A }\n",
  })
  assert.deepEqual(problems, [`cycle: ${source}/mesh/a.ts → ${source}/mesh/b.ts → ${source}/mesh/a.ts`])
})

test('a cycle of values is refused, also by a dynamic import', async () => {
  const problems = await problemsOf({
    'mesh/a.ts': "export { b } from './b.ts'\n",
    'mesh/b.ts': "export const b = () => import('./a.ts')\n",
  })
  assert.match(problems.join('\n'), /^cycle: /)
})

test('an import against the direction of the layers is refused, and one along it is not', async () => {
  const files = { 'mesh/a.ts': "import type { W } from '../worker/w.ts'\n", 'worker/w.ts': 'export type W = 1\n' }
  assert.deepEqual(await problemsOf(files), [`${source}/mesh/a.ts: mesh may not import worker (worker/w.ts)`])
  assert.deepEqual(await problemsOf({ 'worker/w.ts': "import '../mesh/m.ts'\n", 'mesh/m.ts': '' }), [])
})

test('shared imports no types of the config', async () => {
  const files = { 'shared/a.ts': "import type { C } from '../config/c.ts'\n", 'config/c.ts': 'export type C = 1\n' }
  assert.deepEqual(await problemsOf(files), [`${source}/shared/a.ts: shared may not import config (config/c.ts)`])
})

test('an accelerator may not import another one', async () => {
  const problems = await problemsOf({
    'accelerators/one/a.ts': "import '../other/b.ts'\n",
    'accelerators/other/b.ts': '',
  })
  assert.deepEqual(problems, [
    `${source}/accelerators/one/a.ts: an accelerator may not import another one (accelerators/other/b.ts)`,
  ])
})

test('a file of more than 300 lines is refused, in tests and crates too', async () => {
  const [long, short] = ['\n'.repeat(301), '\n'.repeat(300)]
  const files = [`${source}/mesh/a.ts`, 'packages/lab/test/a.test.ts', 'crates/load/src/main.rs', 'docs/test/a.ts']
  const fine = [`${source}/mesh/b.ts`, 'packages/busbar/dist/a.js', 'examples/fanout/node_modules/x/a.js', 'docs/a.md']
  using folder = new TestFolder({
    ...Object.fromEntries(files.map((file) => [file, long])),
    ...Object.fromEntries(fine.map((file) => [file, file === fine[0] ? short : long])),
  })
  const expected = files.map((file) => `${file}: has 301 lines, and 300 are allowed: split it by purpose`)
  assert.deepEqual((await findProblems(folder.path)).toSorted(), expected.toSorted())
})

test('a file of a few lines that only one file uses is refused, except where each thing has its own', async () => {
  const files = {
    'mesh/a.ts': "import './only-here.ts'\nimport './both.ts'\nimport '../shared/below.ts'\n",
    'mesh/b.ts': "import './both.ts'\nimport './long.ts'\n",
    'mesh/only-here.ts': '//\n',
    'mesh/both.ts': '//\n',
    'mesh/long.ts': '//\n'.repeat(30),
    'shared/below.ts': '//\n',
    'cli/table.ts': "import './commands/one.ts'\n",
    'cli/commands/one.ts': '//\n',
  }
  assert.deepEqual(await problemsOf(files, 0), [
    `${source}/mesh/only-here.ts: has 1 lines, and only ${source}/mesh/a.ts uses it: merge the two`,
  ])
})
