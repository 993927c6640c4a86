import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { Arm } from '../src/arm.ts'
import { Copy } from '../src/protocol/copy.ts'
import { inWorkshop } from '../src/workshop.ts'
import { serverArm } from './support/fixture.ts'

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
  test(`a copy of an arm that ${how} leaves no folder behind, and says why`, async () => {
    const { copy, during } = await start(one)
    assert.match((copy as Error).message, sentence)
    assert.equal(during, 0)
  })

test('a start that takes too long is said to be slow, and a port that is another one to be that', async () => {
  const onLinux = process.platform === 'linux'
  const slow = await start(serverArm('slow', { SLOW: '60000' }), { patienceMs: 1500 })
  assert.match(
    (slow.copy as Error).message,
    onLinux ? /its start is slow: after 1.5 s it runs, but listens on no/ : /after/,
  )
  const elsewhere = await start(serverArm('elsewhere', { PORT: '0' }), { patienceMs: 1500 })
  assert.match((elsewhere.copy as Error).message, onLinux ? /it listens on port \d+, not at 127\.0\.0\.1:\d+/ : /after/)
})

test('a copy that runs has a folder, until it is ended', async () => {
  const { during, after } = await start(serverArm('good'))
  assert.deepEqual([during, after], [1, 0])
})

/** What became of it, and how many folders there were then and when it was ended. */
async function start(
  one: Arm,
  options: { patienceMs?: number } = {},
): Promise<{ copy: Copy | Error; during: number; after: number }> {
  return inWorkshop(async (workshop) => {
    const folders = () => readdirSync(workshop.folder).filter((name) => name.startsWith('copy-')).length
    const copy = await Copy.start(one, { ...workshop, ...options, workers: 1 }).catch(
      (error: unknown) => error as Error,
    )
    const during = folders()
    if (copy instanceof Copy) await copy.end()
    return { copy, during, after: folders() }
  })
}
