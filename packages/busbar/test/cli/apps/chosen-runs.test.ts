import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarProcess, type Ended } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

test('runs of apps are chosen by their process alone, from any folder', async () => {
  using folder = new TestFolder({
    'package.json': { name: 'shop' },
    'index.js': `require('node:http').createServer((request, response) => response.end('ok')).listen(3000)`,
  })
  const env = { XDG_RUNTIME_DIR: folder.at('run'), TMPDIR: folder.path }
  const start = (): BusbarProcess => new BusbarProcess(['start', '--once', '--port', '0'], { env, cwd: folder.path })
  const run = (...args: string[]): Promise<Ended> => BusbarProcess.run(args, { env, cwd: '/' })
  await using first = start()
  await using second = start()
  await Promise.all([first.url(), second.url()])
  const [one, other] = [`${first.child.pid}`, `${second.child.pid}`]
  const described = await run('describe', '--pid', one)
  assert.equal(described.code, 0, described.stderr)
  const several = await run('check', '--live', folder.path)
  assert.match(several.stderr, /Choose one by --pid/)
  const asked = await run('check', '--live', '--pid', other)
  assert.equal(asked.code, 0, asked.stderr)
  assert.ok(asked.stdout.includes(`process ${other}`), asked.stdout)
  const resolved = await run('check', '--pid', other)
  assert.equal(resolved.code, 2)
  assert.match(resolved.stderr, /busbar check --live --pid <pid>/)
  const reloaded = await run('reload', '--pid', other)
  assert.equal(reloaded.code, 0, reloaded.stderr)
  const none = await run('reload', '--pid', '1')
  assert.equal(none.code, 4)
  assert.match(none.stderr, /no app runs as process 1 /)
  assert.ok(none.stderr.includes(`shop (process ${one})`), none.stderr)
  const { stdout } = await run('stop', '--pid', other, '--json')
  const { stopped } = JSON.parse(stdout) as { stopped: { pid: number }[] }
  assert.deepEqual(
    stopped.map(({ pid }) => `${pid}`),
    [other],
  )
})
