/** Runs the guides to threads: every block is a file, or a console command with its output. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { blocksOf, root } from '../support/documents.ts'
import { TestFolder } from '../support/app/test-folder.ts'

for (const guide of ['shared-state', 'cpu-work'])
  test(`the examples of docs/guides/scale/${guide}.md work`, async () => {
    const blocks = blocksOf(await readFile(join(root, `docs/guides/scale/${guide}.md`), 'utf8'))
    using folder = new TestFolder()
    mkdirSync(folder.at('node_modules'))
    symlinkSync(join(root, 'packages/busbar'), folder.at('node_modules/busbar'))
    folder.write('package.json', { type: 'module' })
    for (const { file, text } of blocks) if (file !== undefined) folder.write(file, text)
    let commands = 0
    for (const { language, file, text } of blocks.filter((block) => block.file === undefined)) {
      assert.deepEqual([language, file], ['console', undefined])
      const [, program, shown] = /^\$ node (\S+)\n([^]*)$/.exec(text)!
      assert.equal(await output(folder.at(program!)), shown)
      commands++
    }
    assert.equal(commands, guide === 'cpu-work' ? 3 : 4)
  })

async function output(program: string): Promise<string> {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  return await text(child.stdout)
}
