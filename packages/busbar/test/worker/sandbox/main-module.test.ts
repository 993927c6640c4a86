import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { copyProgram, hostPrograms } from './support/hosted-app.ts'

test('a CommonJS program sees what the main module of Node sees', async () => {
  const program = copyProgram('main-module')
  const alone = execFileSync(process.execPath, [`${program}/index.js`, 'print'], { encoding: 'utf8' })
  await using app = await hostPrograms({ it: program, beside: 'commonjs' })
  assert.deepEqual(await app.json('it'), JSON.parse(alone))
  assert.match(((await app.json('beside')) as { main: string }).main, /commonjs\/index\.js$/)
})

test('a CommonJS program starts where deprecations that are still to come throw', async () => {
  using folder = new TestFolder({
    'web/index.js': `require('node:http').createServer((_, response) => response.end('home')).listen(3000)`,
    'busbar.config.json': { gateway: { port: 0 }, services: { web: './web' } },
  })
  const env = { NODE_OPTIONS: '--pending-deprecation --throw-deprecation' }
  await using busbar = new BusbarProcess(['start', folder.path], { env })
  await busbar.until(() => /http:\/\/127\.0\.0\.1:\d+/.test(busbar.stdout))
  const answer = await fetch(/http:\/\/127\.0\.0\.1:\d+/.exec(busbar.stdout)![0], { headers: { connection: 'close' } })
  assert.equal(await answer.text(), 'home')
})

const line = `import { createServer } from 'node:http'; createServer((_, response) => response.end(JSON.stringify(new Error().stack))).listen(3000);`
const sources = {
  'is one line': line,
  'uses import.meta below a hashbang': `#!/usr/bin/env node\n${line} if (!import.meta.main) throw new Error('not main')`,
}

for (const [what, source] of Object.entries(sources))
  test(`stacks of an ES module that ${what} show the columns of its source`, async () => {
    using folder = new TestFolder({ 'index.mjs': source })
    await using app = await hostPrograms({ it: folder.at('index.mjs') })
    const location = `index.mjs:${source.split('\n').length}:${line.indexOf('new Error') + 1}`
    assert.ok(((await app.json('it')) as string).includes(location))
  })
