import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarProcess, type Ended } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/** Logs the path of each request, one of them in three equal lines. */
const program = `require('node:http').createServer((request, response) => {
  const line = JSON.stringify({ level: 30, time: 1, msg: 'asked for ' + decodeURIComponent(request.url) })
  for (let left = request.url === '/equal' ? 3 : 1; left > 0; left--) console.log(line)
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
    await app.event((event) => event['msg'] === `asked for ${decodeURIComponent(path)}`)
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
  await ask('/equal')
  // Ends a line of text for some, and no line of JSON.
  await ask(`/${encodeURIComponent('\u2028')}`)
  from = app.events.length
  const { runs } = JSON.parse((await run('ps', '--json')).stdout) as { runs: { app: { pid: number } }[] }
  process.kill(runs[0]!.app.pid, 'SIGKILL')
  await next()
  await ask('/crashed')
  await Promise.all([all, one, none].map((follower) => follower.until(() => shown(follower).includes('/crashed'))))
  assert.equal((await run('stop')).code, 0)
  const later = ['/restarted', '/equal', '/equal', '/equal', '/\u2028', '/crashed']
  const follows = shown(all).filter((path) => path.startsWith('/follows'))
  for (const [follower, kept] of [
    [all, ['/one', '/two', ...follows]],
    [one, ['/two', ...follows]],
  ] as const) {
    const { code, stderr } = await follower.ended
    assert.deepEqual([code, stderr], [0, 'busbar: the app has ended\n'])
    assert.deepEqual(shown(follower), [...kept, ...later])
  }
  const late = shown(none)
  assert.deepEqual(late, [...follows.slice(-late.length + later.length), ...later])
})

test('busbar logs --follow ends with its run, though another one of the app goes on', async () => {
  using folder = new TestFolder(files)
  const where = { env: { XDG_RUNTIME_DIR: folder.at('run'), XDG_STATE_HOME: folder.at('state') }, cwd: folder.path }
  await using one = new BusbarProcess(['start', '--once'], where)
  await one.url()
  await using other = new BusbarProcess(['start', '--once'], where)
  await other.url()
  await using follower = new BusbarProcess(['logs', '-f', '--pid', `${one.child.pid}`], where)
  await follower.until(() => follower.stdout.includes('serves at'))
  one.child.kill('SIGTERM')
  const { code, stderr } = await follower.ended
  assert.deepEqual([code, stderr], [0, 'busbar: the app has ended\n'])
  assert.equal(other.child.exitCode, null)
})
