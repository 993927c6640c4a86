import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const program = `require('node:http').createServer((request, response) => response.end()).listen(3000)`

test('start -d and save say that the state folder cannot be created', async () => {
  using folder = new TestFolder({ 'package.json': { name: 'shop' }, 'index.js': program })
  const env = { XDG_RUNTIME_DIR: folder.at('run'), XDG_STATE_HOME: folder.at('package.json') }
  for (const args of [['start', '-d'], ['save']]) {
    const { code, stderr } = await BusbarProcess.run(args, { env, cwd: folder.path })
    assert.equal(code, 2, stderr)
    assert.match(stderr, /package\.json.* cannot be created: .*\(USAGE\)\n {2}hint: Set XDG_STATE_HOME /)
  }
})
