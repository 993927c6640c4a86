import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Load, ScalingDecision } from '../../../src/supervisor/scaling/decision.ts'
import { cachedFiles, type MachineMemory, roomFor } from '../../../src/supervisor/scaling/memory-room.ts'

const range = { min: 1, max: 4 }
const load = (instances: number, utilization: number, more: Partial<Load> = {}): Load => ({
  instances,
  utilization,
  occupied: 0,
  waiting: 0,
  queueTime: 0,
  ...more,
})

/** The numbers after each of these samples, with one decision. */
function follow(loads: readonly Load[]): number[] {
  const decision = new ScalingDecision()
  return loads.map((one) => decision.next(one, range))
}

test('three busy samples in a row add instances, a single peak does not', () => {
  assert.deepEqual(follow([load(1, 0.9), load(1, 0.9), load(1, 0.2), load(1, 0.9), load(1, 0.9)]), [1, 1, 1, 1, 1])
  assert.deepEqual(follow([load(1, 0.9), load(1, 0.9), load(1, 0.9)]), [1, 1, 2])
})

test('it grows to what the load needs, at most to twice as many and to the maximum', () => {
  assert.equal(follow([load(2, 0.8), load(2, 0.8), load(2, 0.8)]).at(-1), 3)
  assert.equal(follow([load(2, 1), load(2, 1), load(2, 1)]).at(-1), 4)
  assert.equal(follow([load(4, 1), load(4, 1), load(4, 1)]).at(-1), 4)
})

test('calls that wait add instances, whatever the event loops do', () => {
  const waits = load(1, 0.1, { waiting: 3, queueTime: 150 })
  assert.deepEqual(follow([waits, waits, waits]), [1, 1, 2])
})

test('it shrinks by one, only after many idle samples, and never where the others would be busy', () => {
  const idle = Array.from({ length: 30 }, () => load(3, 0.1))
  assert.deepEqual([...new Set(follow(idle.slice(1)))], [3])
  assert.equal(follow(idle).at(-1), 2)
  assert.deepEqual([...new Set(follow(Array.from({ length: 90 }, () => load(2, 0.3))))], [2])
  assert.deepEqual([...new Set(follow(Array.from({ length: 90 }, () => load(1, 0))))], [1])
  const waitingForOthers = Array.from({ length: 90 }, () => load(2, 0.02, { occupied: 0.8 }))
  assert.deepEqual([...new Set(follow(waitingForOthers))], [2])
})

test('a number outside of the range is corrected at once', () => {
  assert.deepEqual(follow([load(6, 0.6)]), [4])
})

const mb = 1024 ** 2
const memoryOf = (available: number, limit: number, cached = 0): MachineMemory => ({
  availableMemory: () => available * mb,
  constrainedMemory: () => limit * mb,
  total: () => 2000 * mb,
  cached: () => cached * mb,
})

test('the memory has room for what fits beside a reserve', () => {
  assert.equal(roomFor(100 * mb, memoryOf(450, 1000)).room, 3)
  assert.equal(roomFor(100 * mb, memoryOf(90, 1000)).room, 0)
  assert.equal(roomFor(100 * mb, memoryOf(1000, 0)).room, 8)
})

test('files that a cgroup has cached are no reason not to scale', () => {
  assert.equal(roomFor(100 * mb, memoryOf(10, 1000, 600)).room, 5)
})

test('cached files are read from the cgroup of the process, in both versions', () => {
  const reading = (files: Readonly<Record<string, string>>) => (file: string) => {
    const text = files[file]
    if (text === undefined) throw new Error('ENOENT')
    return text
  }
  const first = '9:memory:/app\n0::/\n'
  const statOfFirst = 'cache 5\ninactive_file 1\ntotal_cache 5\ntotal_inactive_file 40\n'
  const second = { '/proc/self/cgroup': '0::/app\n', '/sys/fs/cgroup/app/memory.stat': 'anon 3\ninactive_file 30\n' }
  assert.equal(cachedFiles(reading(second)), 30)
  assert.equal(
    cachedFiles(reading({ '/proc/self/cgroup': '0::/app\n', '/sys/fs/cgroup/memory.stat': 'inactive_file 20\n' })),
    20,
  )
  assert.equal(
    cachedFiles(reading({ '/proc/self/cgroup': first, '/sys/fs/cgroup/memory/app/memory.stat': statOfFirst })),
    40,
  )
  assert.equal(cachedFiles(reading({})), 0)
})
