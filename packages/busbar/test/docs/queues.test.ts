/** Follows the guide to queues: starts its app, and makes its call. */
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { folderWithBusbar } from '../support/app/test-folder.ts'
import { blocksOf, root } from '../support/documents.ts'

const packages = createRequire(import.meta.url)

test('the example of docs/guides/call/queues.md works', async () => {
  const guide = await readFile(join(root, 'docs/guides/call/queues.md'), 'utf8')
  const blocks = blocksOf(guide)
  using folder = folderWithBusbar({ 'package.json': { type: 'module' } })
  symlinkSync(dirname(packages.resolve('zod/package.json')), folder.at('node_modules/zod'))
  for (const { file, text } of blocks) if (file !== undefined) folder.write(file, text)
  const curl = blocks
    .find(({ language }) => language === 'console')!
    .text.trim()
    .split('\n')[1]!
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
})
