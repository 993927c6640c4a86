import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { App } from '../../../src/config/app.ts'
import type { WorkerHandle } from '../../../src/supervisor/workers/worker-handle.ts'
import { Succession, timeLeft } from '../../../src/supervisor/workers/succession.ts'

describe('the time of a stop', () => {
  it('includes the time that callers need to leave', async () => {
    const left = await timeLeft(sleep(50), 60_000)
    assert.ok(left < 60_000 && left > 30_000)
  })

  it('leaves a quarter for the program, however long its callers stay', async () => {
    assert.equal(await timeLeft(sleep(50), 8), 2)
  })
})

describe('the next owner of a queue', () => {
  it('is not called beside the running one', async () => {
    for (const [queueFile, announced] of [
      ['/queue', []],
      [undefined, ['next']],
    ] as const) {
      const { succession, calls } = await prepared(queueFile)
      succession.serveBeside({ window: 0, most: 0.5 })
      assert.deepEqual(calls, announced)
    }
  })

  it('is called when the running one has ended its attempts, or has died', async () => {
    for (const how of ['resolve', 'reject'] as const) {
      const paused = Promise.withResolvers<void>()
      const { succession, calls } = await prepared('/queue')
      succession.takeOver(workerOf('/queue', 'running', calls, () => paused.promise))
      await setImmediate()
      assert.deepEqual(calls, ['pause'])
      paused[how]()
      await setImmediate()
      assert.deepEqual(calls, ['pause', 'next', 'leave', 'drain running'])
    }
  })

  it('is called before the next edit ends the running one, in development', async () => {
    const never = (): Promise<void> => new Promise(() => {})
    const { succession, calls } = await prepared('/queue', 'dev')
    succession.takeOver(workerOf('/queue', 'running', calls, never))
    await succession.makeRoom(undefined, false, 10_000)
    assert.deepEqual(calls, ['pause', 'next', 'leave', 'drain running', 'end running'])
  })

  it('is called at once if it has another file', async () => {
    const { succession, calls } = await prepared('/moved')
    succession.takeOver(workerOf('/queue', 'running', calls))
    await setImmediate()
    assert.deepEqual(calls, ['next', 'leave', 'drain running'])
  })
})

async function prepared(queueFile: string | undefined, mode: 'start' | 'dev' = 'start') {
  const calls: string[] = []
  const next = workerOf(queueFile, 'next', calls)
  const succession = new Succession({
    mode,
    timing: { devDrain: 40 },
    launch: () => next,
    announce: () => void calls.push('next'),
    leave: async () => void calls.push('leave'),
    retired: () => {},
  })
  await succession.prepare({ stopTimeout: 10_000 } as App, next.spec)
  return { succession, calls }
}

function workerOf(
  queueFile: string | undefined,
  name: string,
  calls: string[],
  pause: () => Promise<unknown> = async () => {},
): WorkerHandle {
  return {
    spec: { queueFile },
    phase: 'serving',
    serving: true,
    ready: Promise.resolve([]),
    perform: async () => {
      calls.push('pause')
      await pause()
    },
    drain: async () => void calls.push(`drain ${name}`),
    end: async () => void calls.push(`end ${name}`),
  } as unknown as WorkerHandle
}
