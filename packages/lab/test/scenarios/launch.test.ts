import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Arm } from '../../src/arm.ts'
import { canReadProcesses, pidsWith } from '../../src/machine/processes.ts'
import { RunningArm } from '../../src/protocol/running-arm.ts'
import { withWorkspace } from '../../src/protocol/workspace.ts'
import { type Command, commandGroup } from '../../src/scenarios/launch.ts'

const node = (code: string, more: Partial<Command> = {}): Command => ({
  command: [process.execPath, '-e', code],
  ...more,
})
const group = (...commands: Command[]): Arm => ({
  name: 'group',
  title: 'a group',
  launch: (context) => commandGroup(context, '/', commands),
})
const sleeping = node('setInterval(() => {}, 1000)')
const answering = node(`
  const { existsSync } = require('node:fs')
  const made = existsSync('made')
  require('node:http').createServer((_, to) => to.end(String(made))).listen(process.env.PORT, '127.0.0.1')`)

const onPosix = { skip: process.platform === 'win32' }

test('a command of a group that sets up has ended when the next one begins', onPosix, async () => {
  await withWorkspace(async (workspace) => {
    const setUp = node(`setTimeout(() => require('node:fs').writeFileSync(process.env.FILE, ''), 300)`, {
      setsUp: true,
      env: { FILE: 'made' },
    })
    const running = await RunningArm.start(group(sleeping, setUp, answering), { ...workspace, workers: 1 })
    const { body } = await running.ask({ path: '/' })
    await running.end()
    assert.equal(body.toString(), 'true')
  })
})

test('a group ends, with the reason, when a command fails that sets up', onPosix, async () => {
  await withWorkspace(async (workspace) => {
    const failing = node(`throw new Error('no certificate')`, { setsUp: true })
    await assert.rejects(
      RunningArm.start(group(sleeping, failing, answering), { ...workspace, workers: 1 }),
      /group ended before it answered:[^]*no certificate/,
    )
    if (canReadProcesses) assert.deepEqual(pidsWith(`TMPDIR=${workspace.folder}`), [])
  })
})
