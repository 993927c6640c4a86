import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAlive } from '../../../src/shared/process/process-identity.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const program = `require('node:http').createServer((request, response) => response.end()).listen(3000)`

const files = {
  'package.json': { name: 'shop' },
  'busbar.config.json': { gateway: { port: 0 }, services: { shop: './index.js' } },
  'index.js': program,
}

test('start -d and save say that the state folder cannot be created', async () => {
  using folder = new TestFolder(files)
  const env = { XDG_RUNTIME_DIR: folder.at('run'), XDG_STATE_HOME: folder.at('package.json') }
  for (const args of [['start', '-d'], ['save']]) {
    const { code, stderr } = await BusbarProcess.run(args, { env, cwd: folder.path })
    assert.equal(code, 2, stderr)
    assert.match(stderr, /package\.json.* cannot be created: .*\(USAGE\)\n {2}hint: Set XDG_STATE_HOME /)
  }
})

test('start -d says that commands cannot find the app', { skip: process.platform === 'win32' }, async () => {
  using folder = new TestFolder(files)
  const env = { XDG_RUNTIME_DIR: folder.at('package.json'), XDG_STATE_HOME: folder.at('state') }
  const { code, stdout, stderr } = await BusbarProcess.run(['start', '-d', '--json'], { env, cwd: folder.path })
  assert.equal(code, 0, stderr)
  const { pid, name, addresses } = JSON.parse(stdout) as { pid: number; name: string; addresses: unknown[] }
  process.kill(pid, 'SIGTERM')
  // They are known without it.
  assert.equal(name, 'shop')
  assert.equal(addresses.length, 1)
  assert.match(
    stderr,
    new RegExp(`stop and other commands cannot find this app: .*\\n {2}hint: End it by kill -TERM ${pid}\\.`),
  )
  await pollUntil(() => !isAlive(pid))
})
