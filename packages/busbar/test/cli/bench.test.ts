import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLine } from '../../src/cli/parse.ts'
import { BusbarProcess } from '../support/busbar-process.ts'

test('all that stands behind bench is the lab’s to read', () => {
  const { command, operand, flags, rest } = parseLine(['bench', 'fanout', '--quick', '--workers', '1,2', '--help'])
  assert.deepEqual([command?.name, operand, flags], ['bench', undefined, {}])
  assert.deepEqual(rest, ['fanout', '--quick', '--workers', '1,2', '--help'])
})

test('busbar bench --help is the lab’s own help', async () => {
  const { code, stdout, stderr } = await BusbarProcess.run(['bench', '--help'])
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^busbar bench <scenario> \[flags\]/)
})

test('the exit code is the lab’s, and what is wrong is on standard error', async () => {
  const { code, stdout, stderr } = await BusbarProcess.run(['bench', 'nothing'])
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^"nothing" is neither a scenario/)
})
