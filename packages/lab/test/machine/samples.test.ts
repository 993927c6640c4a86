import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  userFlags,
  readSamples,
  samplingInto,
  summariseSamples,
  type Sample,
  type ThreadSamples,
} from '../../src/machine/samples.ts'

function sample(from: number, more: Partial<Sample> = {}): Sample {
  return {
    from,
    to: from + 250,
    utilisation: 0.5,
    delayP50: 0,
    delayP99: 1,
    delayMax: 2,
    gc: 25,
    cpu: 125,
    heapTotal: 20,
    heapUsed: 10,
    newSpace: 4,
    oldSpace: 6,
    external: 0,
    ...more,
  }
}

function thread(thread: number, samples: Sample[]): ThreadSamples {
  return { pid: 1, thread, version: 'v24', flags: [], samples }
}

test('only samples within the slice count, since an earlier one may include frozen time', () => {
  const stopped = sample(0, { to: 10_100, utilisation: 0, delayMax: 10_000 })
  const use = summariseSamples([thread(0, [stopped, sample(10_100), sample(10_350), sample(10_600)])], 10_000, 10_650)!
  assert.equal(use.utilisation, 0.5)
  assert.equal(use.gc, 0.1)
  assert.equal(use.cpu, 0.5)
  assert.deepEqual(
    use.timeline.map(({ at }) => at),
    [0.5, 0.75],
  )
  assert.equal(summariseSamples([thread(0, [stopped])], 10_000, 10_650), undefined)
})

test('sizes are summed over threads, and utilisation is that of the busiest', () => {
  const busy = thread(0, [sample(0, { utilisation: 0.9 }), sample(250, { utilisation: 0.9 })])
  const idle = thread(1, [
    sample(10, { utilisation: 0.01, heapUsed: 30, cpu: 0 }),
    sample(260, { utilisation: 0.01, heapUsed: 30, cpu: 0 }),
  ])
  const use = summariseSamples([busy, idle], 0, 600)!
  assert.deepEqual([use.threads, use.busyThreads, use.utilisation, use.heapUsed], [2, 1, 0.9, 40])
  // Also in a moment without a sample of one thread.
  assert.ok(use.timeline.every(({ heapUsed }) => heapUsed === 40))
})

test('every thread of a Node program is sampled after one period, without side effects', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'busbar lab "test" '))
  try {
    const code = `
      const { Worker } = require('node:worker_threads')
      new Worker('setTimeout(() => {}, 1500)', { eval: true })
      new Worker('', { eval: true })
      setTimeout(() => process.stdout.write('done'), 1500)`
    const env = { ...process.env, ...samplingInto(join(folder, 'samples')) }
    const child = spawn(process.execPath, ['--no-warnings', '-e', code], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    // It exits by itself: the sampler does not keep it alive.
    const [status] = (await once(child, 'close')) as [number]
    assert.deepEqual([status, said], [0, 'done'])
    const threads = (await readSamples(join(folder, 'samples'))).toSorted((one, other) => one.thread - other.thread)
    assert.deepEqual(
      threads.map(({ thread, version }) => [thread, version]),
      [
        [0, process.version],
        [1, process.version],
      ],
    )
    // Node's flags without the lab's. The code is a flag to Node, too.
    assert.equal(userFlags(threads[0]!)[0], '--no-warnings')
    assert.ok(userFlags(threads[0]!).every((flag) => !flag.includes('sampler')))
    for (const { samples } of threads) {
      assert.ok(samples.length > 0)
      // Four times a second at most, however slow the machine is.
      for (const { from, to } of samples) assert.ok(to - from > 200, `${to - from} ms`)
      for (const { heapUsed, heapTotal, newSpace, oldSpace, utilisation, delayP99, cpu } of samples) {
        assert.ok(heapUsed > 1e6 && heapUsed <= heapTotal && newSpace > 0 && oldSpace > 1e6)
        assert.ok(utilisation >= 0 && utilisation <= 1 && delayP99 >= 0 && cpu >= 0)
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('flags that only say where a debugger would listen are no difference', () => {
  const flags = ['--inspect-port=127.0.0.1:0', '--inspect-publish-uid=stderr', '--inspect', '--max-old-space-size=64']
  assert.deepEqual(userFlags({ pid: 1, thread: 0, version: 'v24', flags }), ['--inspect', '--max-old-space-size=64'])
})
