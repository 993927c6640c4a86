/** Follows the guide to events: starts its app, makes its call, runs its test. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { blocksOf, root } from '../support/documents.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const packages = createRequire(import.meta.url)

test('the examples of docs/guides/call/events.md work', async () => {
  const guide = await readFile(join(root, 'docs/guides/call/events.md'), 'utf8')
  const blocks = blocksOf(guide)
  using folder = new TestFolder({ 'package.json': { type: 'module' } })
  mkdirSync(folder.at('node_modules'))
  symlinkSync(join(root, 'packages/busbar'), folder.at('node_modules/busbar'))
  symlinkSync(dirname(packages.resolve('zod/package.json')), folder.at('node_modules/zod'))
  for (const { file, text } of blocks) if (file !== undefined) folder.write(file, text)
  const commands = blocks.flatMap(({ language, text }) => (language === 'console' ? text.trim().split('\n') : []))
  assert.equal(commands.length, 3)
  const [, curl, tests] = commands as [string, string, string]
  await using app = new BusbarProcess(['start', '--port', '0', '--once'], { cwd: folder.path })
  const [, body, url] = /-d (\S+) (\S+)$/.exec(curl)!
  const answer = await fetch(new URL(new URL(url!).pathname, await app.url()), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body!,
  })
  assert.equal(answer.status, 204)
  const [, line] = /The app's log then has `(.*?)`/.exec(guide)!
  await app.until(() => app.stdout.includes(line!))
  await promisify(execFile)(process.execPath, tests.split(' ').slice(2), { cwd: folder.path, env: environment() })
})

/** Without the variables of the test runner, which would make the command a subtest. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return env
}
