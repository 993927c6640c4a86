import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TestFolder } from '../../packages/busbar/test/support/app/test-folder.ts'
import { findWideComments } from '../checks/check-comments.ts'

test('the comments of this repository are at most 100 columns wide', async () => {
  assert.deepEqual(await findWideComments(fileURLToPath(new URL('../../', import.meta.url))), [])
})

test('a wider comment is refused, in each language; code, commands and tables are not', async () => {
  const wide = 'word '.repeat(20).trim()
  using folder = new TestFolder({
    'packages/a.ts': `/**\n * ${wide}\n */\n  // ${wide}\nconst text = '${wide} and more'\n// short\n`,
    'crates/b/src/c.rs': `//! ${wide}\n`,
    '.ci/run': `# ${wide}\necho ${wide} ${wide}\n`,
    'scripts/d.ts': `/**\n *     node ${wide}\n * \`node ${wide}\`\n * | ${wide} | 1 |\n */\n`,
    'packages/dist/e.js': `// ${wide}\n`,
  })
  const expected = ['packages/a.ts:2', 'packages/a.ts:4', 'crates/b/src/c.rs:1', '.ci/run:1']
  const problems = await findWideComments(folder.path)
  assert.deepEqual(
    problems.map((line) => line.replace(/: a comment has 10[1-9] columns.*/, '')).toSorted(),
    expected.toSorted(),
  )
})
