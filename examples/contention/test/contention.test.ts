import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { it } from 'node:test'

const example = join(import.meta.dirname, '..')

it('counts every increment with each of the four counters', () => {
  const { status, stdout, stderr } = run('--workers', '3', '--tasks', '7', '--iterations', '1001', '--shards', '5')
  assert.deepEqual([status, stderr], [0, ''])
  const [title, , , ...rows] = stdout.trimEnd().split('\n')
  assert.equal(title, '7 tasks of 1,001 increments each, by 3 threads')
  const found = rows.map((row) => /^(.{18}) +[\d.]+ +[\d.]+ x +([\d,]+)$/.exec(row)?.slice(1))
  assert.deepEqual(
    found.map((row) => row?.[0]!.trim()),
    ['mutex', 'atomic, one cell', 'atomic, sharded', 'plain, sharded'],
  )
  for (const row of found) assert.equal(row?.[1], '7,007')
})

for (const [args, reason] of [
  [['--workers', '0'], '--workers is a whole number from 1 to 100\n'],
  [['--shards', 'many'], '--shards is a whole number from 1 to 1,000\n'],
  [['--tasks', '1000', '--iterations', '10000000'], '10000000000 is more than a cell of 32 bits can count to\n'],
] as const)
  it(`refuses ${args.join(' ')}`, () => {
    const { status, stderr } = run(...args)
    assert.deepEqual([status, stderr], [1, reason])
  })

function run(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['index.ts', ...args], { cwd: example, encoding: 'utf8' })
}
