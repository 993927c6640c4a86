import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { TestFolder } from '../../support/folder.ts'
import { another, hosting } from './support/app.ts'

test('a program of CommonJS sees what it would see as the file that Node is started with', async () => {
  const program = another('main-module')
  const alone = execFileSync(process.execPath, [`${program}/index.js`, 'print'], { encoding: 'utf8' })
  await using app = await hosting({ it: program, beside: 'commonjs' })
  assert.deepEqual(await app.json('it'), JSON.parse(alone))
  assert.match(((await app.json('beside')) as { main: string }).main, /commonjs\/index\.js$/)
})

const line = `import { createServer } from 'node:http'; createServer((_, response) => response.end(JSON.stringify(new Error().stack))).listen(3000);`
const sources = {
  'is one line': line,
  'asks for import.meta below a hashbang': `#!/usr/bin/env node\n${line} if (!import.meta.main) throw new Error('not main')`,
}

for (const [what, source] of Object.entries(sources))
  test(`stacks of an ES module that ${what} say the columns of its source`, async () => {
    using folder = new TestFolder({ 'index.mjs': source })
    await using app = await hosting({ it: folder.at('index.mjs') })
    const place = `index.mjs:${source.split('\n').length}:${line.indexOf('new Error') + 1}`
    assert.ok(((await app.json('it')) as string).includes(place))
  })
