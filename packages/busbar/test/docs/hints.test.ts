import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

const source = join(import.meta.dirname, '../../src')

test('hints are sentences: they begin with a capital letter and end with a full stop', async () => {
  const wrong: string[] = []
  let found = 0
  for await (const file of glob('**/*.ts', { cwd: source })) {
    const text = await readFile(join(source, file), 'utf8')
    for (const [, quoted] of text.matchAll(/\bhint: ('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)[,\s}]/g)) {
      if (!quoted!.includes(' ')) continue
      found++
      // A name of the config or a placeholder may come first, and a placeholder last.
      if (/^.[a-z]+ /.test(quoted!) || !/[.?!)}]$/.test(quoted!.slice(0, -1))) wrong.push(`${file}: ${quoted}`)
    }
  }
  assert.ok(found > 100)
  assert.deepEqual(wrong, [])
})
