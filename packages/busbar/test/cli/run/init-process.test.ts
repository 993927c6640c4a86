import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { TestFolder } from '../../support/app/test-folder.ts'

const busbar = fileURLToPath(new URL('../../support/busbar.ts', import.meta.url))
const namespace = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc']
/** Some systems do not let their users have namespaces. */
const skip = spawnSync('unshare', [...namespace, 'true']).status !== 0

/** Leaves a grandchild behind, and says what it knows of the processes of the namespace. */
const program = `
const { spawn } = require('node:child_process')
const { readdirSync, readFileSync } = require('node:fs')
const processes = () =>
  readdirSync('/proc')
    .filter((name) => /^\\d+$/.test(name))
    .map((pid) => { try { return readFileSync('/proc/' + pid + '/stat', 'utf8') } catch { return '' } })
require('node:http').createServer((request, response) => {
  if (request.url === '/orphan') {
    spawn('/bin/sh', ['-c', 'sleep 0.1 & echo $!']).stdout.once('data', (data) => response.end(String(data)))
  } else response.end(JSON.stringify(processes()))
}).listen(3000)`

const files = {
  'busbar.config.json': { gateway: { port: 0 }, services: { web: './web', other: './web' } },
  'web/index.js': program,
}

test('as process 1 the app leaves no zombies, and a signal stops it with exit code 0', { skip }, async () => {
  using folder = new TestFolder(files)
  const node = [process.execPath, '--conditions=busbar-source', busbar]
  const command = ['unshare', ...namespace, ...node, 'start', folder.path]
  const child = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const output = text(child.stdout)
  let seen = ''
  child.stdout.on('data', (data: Buffer) => (seen += String(data)))
  const first = (): number => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim())
  try {
    while (!seen.includes('"addresses"')) await sleep(20)
    const url = /"url":"([^"]+)"/.exec(seen)![1]!
    const orphan = (await (await fetch(`${url}/web/orphan`)).text()).trim()
    assert.match(orphan, /^\d+$/)
    const stats = async (): Promise<string[]> => (await (await fetch(`${url}/web/`)).json()) as string[]
    // Its parent has ended, so it belongs to process 1 when it ends.
    while ((await stats()).some((stat) => stat.startsWith(`${orphan} `))) await sleep(20)
    assert.deepEqual(
      (await stats()).filter((stat) => /\) Z /.test(stat)),
      [],
    )
    process.kill(first(), 'SIGTERM')
    assert.equal(await ended, 0)
    assert.match(await output, /"msg":"SIGTERM: stopping"[^]*"msg":"stopped"/)
  } finally {
    if (child.exitCode === null) process.kill(first(), 'SIGKILL')
  }
})
