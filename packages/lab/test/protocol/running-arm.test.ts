import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { Arm } from '../../src/arm.ts'
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

test('a running arm has a folder until it is ended', async () => {
  const { during, after } = await start(serverArm('good'))
  assert.deepEqual([during, after], [1, 0])
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
