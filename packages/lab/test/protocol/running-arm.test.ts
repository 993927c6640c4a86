import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Arm } from '../../src/arm.ts'
import { pidsWith } from '../../src/machine/processes.ts'
import { Reaper } from '../../src/machine/reaper.ts'
import { RunningArm } from '../../src/protocol/running-arm.ts'
import { withWorkspace } from '../../src/protocol/workspace.ts'
import { serverArm } from '../support/fixture.ts'

const target = { address: '127.0.0.1:9', path: '/' }
const arm = (launch: Arm['launch']): Arm => ({ name: 'arm', title: 'arm', launch })

const failing: readonly (readonly [how: string, arm: Arm, sentence: RegExp])[] = [
  [
    'cannot say how to start',
    arm(() => {
      throw new Error('no idea')
    }),
    /no idea/,
  ],
  ['has a command that no system takes', arm(() => ({ command: ['no\0thing'], target })), /null bytes/],
  ['has a command that is not there', arm(() => ({ command: ['no-such-program'], target })), /no-such-program/],
  ['ends at once', arm(() => ({ command: [process.execPath, '-e', '0'], target })), /ended before it answered/],
]

for (const [how, one, sentence] of failing)
  test(`an arm that ${how} leaves no folder behind, and the reason is reported`, async () => {
    const { copy, during } = await start(one)
    assert.match((copy as Error).message, sentence)
    assert.equal(during, 0)
  })

test('a slow start and a wrong port are reported as such', async () => {
  const onLinux = process.platform === 'linux'
  const slow = await start(serverArm('slow', { SLOW: '60000' }), { startTimeoutMs: 1500 })
  assert.match((slow.copy as Error).message, onLinux ? /slow start: after 1.5 s it runs, but does not listen/ : /after/)
  const elsewhere = await start(serverArm('elsewhere', { PORT: '0' }), { startTimeoutMs: 1500 })
  assert.match((elsewhere.copy as Error).message, onLinux ? /it listens on port \d+, not at 127\.0\.0\.1:\d+/ : /after/)
})

test('an arm may listen on the IPv6 address of the loopback interface only', async () => {
  const one = arm(({ port }) => ({
    command: [process.execPath, '-e', `require('node:http').createServer((_, to) => to.end()).listen(${port}, '::1')`],
    target: { address: `127.0.0.1:${port}`, path: '/' },
    ready: { status: 'any', ports: [port] },
  }))
  await withWorkspace(async (workspace) => {
    const running = await RunningArm.start(one, { ...workspace, workers: 1 })
    const { port } = running
    const answers = [await running.ask({ path: '/' }), await running.ask({ path: '/' }, { port })]
    const target = await running.loadTarget()
    await running.end()
    assert.deepEqual(
      [target, answers.map(({ status }) => status)],
      [{ address: `[::1]:${port}`, protocol: 'http1' }, [200, 200]],
    )
  })
})

test('a running arm has a folder until it is ended', async () => {
  const { during, after } = await start(serverArm('good'))
  assert.deepEqual([during, after], [1, 0])
})

const onLinux = { skip: process.platform === 'linux' ? false : 'reads /proc' }
const daemon = 'setInterval(() => {}, 1000)'
// Its parent ends at once, and it is in a session of its own.
const starter = `const { spawn } = require('node:child_process')
  spawn('/bin/sh', ['-c', 'setsid "$0" -e "$1" </dev/null >/dev/null 2>&1 &', process.execPath, process.argv[1]])
  require('node:http').createServer((_, response) => response.end()).listen(process.env.PORT)`

test('a daemon that an arm has started ends with it', onLinux, async () => {
  await withWorkspace(async (workspace) => {
    const copy = await RunningArm.start(
      arm(({ port, folder }) => ({
        command: [process.execPath, '-e', starter, daemon],
        env: { PORT: `${port}`, TMPDIR: folder },
        target: { address: `127.0.0.1:${port}`, path: '/' },
      })),
      { ...workspace, workers: 1 },
    )
    const folder = readdirSync(workspace.folder).find((name) => name.startsWith('arm-'))
    const variable = `TMPDIR=${workspace.folder}/${folder}`
    const all = pidsWith(variable).length
    await copy.end()
    assert.deepEqual([all, pidsWith(variable)], [2, []])
  })
})

test('a daemon ends when a lab that was killed is cleaned up', onLinux, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-reaper-'))
  const reaper = new Reaper(folder)
  const child = spawn(process.execPath, ['-e', daemon], {
    detached: true,
    stdio: 'ignore',
    env: { TMPDIR: `${folder}/arm-1` },
  })
  await once(child, 'spawn')
  const ended = once(child, 'exit')
  await reaper.close()
  assert.deepEqual(await ended, [null, 'SIGKILL'])
})

test('a server that speaks TLS or another protocol is reported as such', async () => {
  const launch = (program: string) =>
    arm(({ port, certificate: { cert, key } }) => ({
      command: [process.execPath, '-e', program, cert, key],
      env: { PORT: `${port}` },
      target: { address: `127.0.0.1:${port}`, path: '/' },
      ready: { status: 'any', ports: [] },
    }))
  const tls = `const { readFileSync } = require('node:fs')
    const [, cert, key] = process.argv.map((file) => (file.endsWith('.pem') ? readFileSync(file) : file))
    require('node:https').createServer({ cert, key }).listen(process.env.PORT)`
  const { copy: overTls } = await start(launch(tls))
  assert.match((overTls as Error).message, /it listens, but speaks TLS, and only HTTP in clear is asked/)
  const http2 = `require('node:http2').createServer().listen(process.env.PORT)`
  const { copy: overHttp2 } = await start(launch(http2))
  assert.match((overHttp2 as Error).message, /it listens, but does not speak HTTP\/1\.1/)
})

/** The result, and the number of folders then and after the end. */
async function start(
  one: Arm,
  options: { startTimeoutMs?: number } = {},
): Promise<{ copy: RunningArm | Error; during: number; after: number }> {
  return withWorkspace(async (workspace) => {
    const folders = () => readdirSync(workspace.folder).filter((name) => name.startsWith('arm-')).length
    const copy = await RunningArm.start(one, { ...workspace, ...options, workers: 1 }).catch(
      (error: unknown) => error as Error,
    )
    const during = folders()
    if (copy instanceof RunningArm) await copy.end()
    return { copy, during, after: folders() }
  })
}
