import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { another, hosting } from './support/app.ts'

test('a program of CommonJS sees what it would see as the file that Node is started with', async () => {
  const program = another('main-module')
  const alone = execFileSync(process.execPath, [`${program}/index.js`, 'print'], { encoding: 'utf8' })
  await using app = await hosting({ it: program, beside: 'commonjs' })
  assert.deepEqual(await app.json('it'), JSON.parse(alone))
  assert.match(((await app.json('beside')) as { main: string }).main, /commonjs\/index\.js$/)
})
