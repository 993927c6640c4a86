import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { browserCommand } from '../../../src/cli/dashboard/open-browser.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const files = {
  'index.js': `
    require('node:http').createServer((_, response) => response.end(String(process.pid))).listen(3000)
    console.log('variables', Object.keys(process.env).filter((name) => name === 'BUSBAR_PAGE').join())`,
  'package.json': { name: 'only' },
}

interface Opened {
  readonly url: string
  readonly token: string
}

/** What a file leads to. */
function read(file: string): Opened {
  const [, url, token] = /url=(http:\/\/127\.0\.0\.1:\d+)\/#token=([\w-]{32})"/.exec(readFileSync(file, 'utf8'))!
  return { url: url!, token: token! }
}

async function statusOf({ url, token }: Opened): Promise<number> {
  return (await fetch(`${url}/status`, { headers: { authorization: `Bearer ${token}` } })).status
}

test('--open opens a port with a token, which no log has, for this run', async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0', '--open'])
  const file = String((await busbar.event(({ dashboard }) => dashboard !== undefined))['dashboard'])
  const opened = read(file)
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(await statusOf(opened), 200)
  assert.equal(await statusOf({ ...opened, token: 'wrong' }), 401)
  busbar.child.kill('SIGTERM')
  const { code, stdout, stderr } = await busbar.ended
  assert.deepEqual([code, stderr.includes(opened.token), stdout.includes(opened.token)], [0, false, false])
  assert.equal(existsSync(file), false)
})

test('after a crash of the whole process the page is back at the same port with the same token', async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0', '--open'])
  const url = await busbar.url()
  const file = String((await busbar.event(({ dashboard }) => dashboard !== undefined))['dashboard'])
  const opened = read(file)
  const seen = busbar.events.length
  process.kill(Number(await (await fetch(url)).text()), 'SIGKILL')
  await busbar.event(({ addresses }) => addresses !== undefined, seen)
  assert.equal(await statusOf(opened), 200)
  assert.equal((await busbar.message('variables', seen))['msg'], 'variables ')
  assert.equal(busbar.events.filter(({ dashboard }) => dashboard !== undefined).length, 1)
})

test('in the background the command that starts it says where it is', async () => {
  using folder = new TestFolder(files)
  const env = { XDG_RUNTIME_DIR: folder.at('run'), XDG_STATE_HOME: folder.at('state') }
  const { code, stdout } = await BusbarProcess.run(['start', '-d', folder.path, '--port', '0', '--open', '--json'], {
    env,
  })
  try {
    assert.equal(code, 0, stdout)
    const { dashboard } = JSON.parse(stdout) as { dashboard: { url: string; file: string } }
    const opened = read(dashboard.file)
    assert.equal(opened.url, dashboard.url)
    assert.equal(await statusOf(opened), 200)
    assert.equal(stdout.includes(opened.token), false)
  } finally {
    await BusbarProcess.run(['stop', folder.path], { env })
  }
})

test('the browser of the user is started with a file, never with the token', () => {
  const onLinux = (env: NodeJS.ProcessEnv) => browserCommand('/run/page.html', env, 'linux')
  assert.equal(onLinux({}), undefined)
  assert.equal(onLinux({ DISPLAY: ':0', PATH: '/none' }), undefined)
  assert.deepEqual(onLinux({ BROWSER: 'firefox' }), ['firefox', '/run/page.html'])
  assert.deepEqual(browserCommand('/run/page.html', {}, 'darwin'), ['open', '/run/page.html'])
})
