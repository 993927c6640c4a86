import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarProcess, type Ended } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/** Logs the path of each request. */
const program = `require('node:http').createServer((request, response) => {
  console.log('asked for ' + request.url)
  response.end()
}).listen(3000)`

const files = {
  'package.json': { name: 'shop' },
  'busbar.config.json': { gateway: { port: 0 }, services: { web: './web' } },
  'web/index.js': program,
}

test('busbar logs follows an app over its restart and a crash, each line once, until it is stopped', async () => {
  using folder = new TestFolder(files)
  const env = { XDG_RUNTIME_DIR: folder.at('run'), XDG_STATE_HOME: folder.at('state') }
  const where = { env, cwd: folder.path }
  const run = (...args: string[]): Promise<Ended> => BusbarProcess.run(args, where)
  await using app = new BusbarProcess(['start'], where)
  let url = await app.url()
  const ask = async (path: string): Promise<void> => {
    await (await fetch(url + path, { headers: { connection: 'close' } })).text()
    await app.event((event) => event['msg'] === `asked for ${path}`)
  }
  await ask('/one')
  await ask('/two')
  await using all = new BusbarProcess(['logs', '-f', '--grep', 'asked', '--json'], where)
  await using one = new BusbarProcess(['logs', '-f', '-n', '1', '--grep', 'asked', '--json'], where)
  await using none = new BusbarProcess(['logs', '-f', '-n', '0', '--grep', 'asked', '--json'], where)
  const shown = ({ events }: BusbarProcess): string[] => events.map(({ msg }) => String(msg).slice(10))
  await Promise.all([all, one].map((follower) => follower.until(() => shown(follower).includes('/two'))))
  // It prints nothing yet, so only a line says that it follows.
  for (let asked = 0; shown(none).length === 0; asked++) await ask(`/follows-${asked}`)

  let from = app.events.length
  const next = async (): Promise<void> => {
    const { addresses } = await app.event((event) => Array.isArray(event['addresses']), from)
    url = (addresses as { url: string }[])[0]!.url
  }
  assert.equal((await run('restart')).code, 0)
  await next()
  await ask('/restarted')
  from = app.events.length
  const { runs } = JSON.parse((await run('ps', '--json')).stdout) as { runs: { app: { pid: number } }[] }
  process.kill(runs[0]!.app.pid, 'SIGKILL')
  await next()
  await ask('/crashed')
  await Promise.all([all, one, none].map((follower) => follower.until(() => shown(follower).includes('/crashed'))))
  assert.equal((await run('stop')).code, 0)
  const follows = shown(all).filter((path) => path.startsWith('/follows'))
  for (const [follower, kept] of [
    [all, ['/one', '/two', ...follows]],
    [one, ['/two', ...follows]],
  ] as const) {
    const { code, stderr } = await follower.ended
    assert.deepEqual([code, stderr], [0, 'busbar: the app has ended\n'])
    assert.deepEqual(shown(follower), [...kept, '/restarted', '/crashed'])
  }
  const late = shown(none)
  assert.deepEqual(late, [...follows.slice(-late.length + 2), '/restarted', '/crashed'])
})
