import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'

test('bench forwards all of its arguments to the lab', () => {
  const { command, operands, flags, rest } = parseCommandLine([
    'bench',
    'fanout',
    '--quick',
    '--workers',
    '1,2',
    '--help',
  ])
  assert.deepEqual([command?.name, operands, flags], ['bench', [], {}])
  assert.deepEqual(rest, ['fanout', '--quick', '--workers', '1,2', '--help'])
})

test('busbar bench --help prints the help of the lab', async () => {
  const { code, stdout, stderr } = await BusbarProcess.run(['bench', '--help'])
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^busbar bench <scenario> \[flags\]/)
})

test('bench exits with the code of the lab, and prints errors to standard error', async () => {
  const { code, stdout, stderr } = await BusbarProcess.run(['bench', 'nothing'])
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^"nothing" is neither a scenario/)
})
