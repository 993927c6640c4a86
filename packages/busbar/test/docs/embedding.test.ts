/**
 * Runs the tests in the guide to embedding: every console command must pass. Vitest is not a
 * dependency of this repository, so its test is only parsed.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { blocksOf, root } from '../support/documents.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const packages = createRequire(import.meta.url)

test('the tests in docs/guides/run/embedding.md pass', async () => {
  const blocks = blocksOf(await readFile(join(root, 'docs/guides/run/embedding.md'), 'utf8'))
  using folder = new TestFolder()
  mkdirSync(folder.at('node_modules'))
  symlinkSync(join(root, 'packages/busbar'), folder.at('node_modules/busbar'))
  symlinkSync(dirname(packages.resolve('zod/package.json')), folder.at('node_modules/zod'))
  folder.write('package.json', { type: 'module' })
  for (const { file, text } of blocks) if (file !== undefined) folder.write(file, text)
  const commands = blocks.filter(({ language }) => language === 'console').map(({ text }) => text.trim())
  assert.equal(commands.length, 3)
  for (const command of [...commands, '$ node --check shop.spec.js']) {
    const args = command.replace('$ node ', '').split(' ')
    await promisify(execFile)(process.execPath, args, { cwd: folder.path, env: environment() })
  }
})

/** Without the variables of the test runner, which would make the commands subtests. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return env
}
