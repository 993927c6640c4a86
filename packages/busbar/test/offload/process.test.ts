import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { sharedThreadLimit } from '../../src/offload/pool.ts'
import { createOffload } from '../../src/offload/offload.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { CodeThread } from '../support/app/code-thread.ts'
import { hold } from './hold.ts'

const task = new URL('programs/task.js', import.meta.url)
const sources = JSON.stringify(new URL('../../src/offload/offload.ts', import.meta.url))

test('a program without other work ends by itself, but not before its tasks', async () => {
  const program = `
    import { offload } from ${sources}
    const task = ${JSON.stringify(task)}
    console.log(await offload(task, { do: 'echo', value: 'first' }))
    offload(task, { do: 'echo', value: 'second' }).then(console.log)
    offload(task, { do: 'awaits' }, { timeout: 1000 }).then(console.log)`
  using folder = new TestFolder({ 'program.ts': program })
  const child = spawn(process.execPath, [folder.at('program.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  assert.deepEqual([printed, code], ['first\nsecond\nstopped\n', 0])
})

test('threads of a pool have access to shared state', async () => {
  const program = `
    import { offload } from ${sources}
    import { shared } from ${JSON.stringify(new URL('../../src/state/shared.ts', import.meta.url))}
    await offload(${JSON.stringify(new URL('programs/counts.ts', import.meta.url))}, 5)
    console.log(shared.counter('counted').value)`
  using folder = new TestFolder({ 'program.ts': program })
  const child = spawn(process.execPath, [folder.at('program.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  assert.equal(await text(child.stdout), '5\n')
})

test('idle threads end after a while, except one', async () => {
  await using offload = createOffload({ threads: 2, idle: 10 })
  const started: Worker[] = []
  const add = (message: unknown): void => void started.push((message as { worker: Worker }).worker)
  subscribe('worker_threads', add)
  const blocked = await Promise.all([hold(offload), hold(offload)])
  unsubscribe('worker_threads', add)
  const ended = started.map(async (worker) => {
    await once(worker, 'exit')
    return worker
  })
  for (const { release } of blocked) release()
  const first = await Promise.race(ended)
  assert.ok(started.includes(first))
  assert.equal(await offload(task, { do: 'echo', value: 1 }), 1)
})

test('an idle thread ends when its own time is over, however long others have been idle', async (context) => {
  let now = 0
  context.mock.method(performance, 'now', () => now)
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using offload = createOffload({ threads: 3, idle: 1000 })
  const started: Worker[] = []
  const add = (message: unknown): void => void started.push((message as { worker: Worker }).worker)
  subscribe('worker_threads', add)
  const [first, second, third] = await Promise.all([hold(offload), hold(offload), hold(offload)])
  unsubscribe('worker_threads', add)
  let ended = 0
  const exits = started.map(async (worker) => {
    await once(worker, 'exit')
    ended++
  })
  const pass = (milliseconds: number): void => {
    now += milliseconds
    context.mock.timers.tick(milliseconds)
  }
  first.release()
  await first.held
  pass(400)
  second.release()
  await second.held
  pass(600)
  await Promise.race(exits)
  third.release()
  await third.held
  pass(400)
  while (ended < 2) await new Promise((resolve) => setImmediate(resolve))
  pass(10_000)
  assert.equal(await offload(task, { do: 'echo', value: 1 }), 1)
  assert.equal(ended, 2)
})

test('each of several pools of a thread has at least one thread', async () => {
  const program = `
    import { createOffload, offload } from ${sources}
    import { availableParallelism } from 'node:os'
    const task = ${JSON.stringify(task)}
    const pools = [offload, ...Array.from({ length: availableParallelism() }, () => createOffload())]
    for (const pool of pools) await pool(task, { do: 'echo', value: 1 })
    console.log('all')`
  using folder = new TestFolder({ 'program.ts': program })
  const child = spawn(process.execPath, [folder.at('program.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  assert.deepEqual([printed, code], ['all\n', 0])
})

test('the pools of several threads share one limit, and each has at least one thread', async () => {
  const bound = sharedThreadLimit(2)
  assert.ok(bound.mayGrow())
  bound.started()
  assert.ok(bound.mayGrow())
  await using thread = new CodeThread()
  await thread.run(`
    const { sharedThreadLimit } = await import(${JSON.stringify(new URL('../../src/offload/pool.ts', import.meta.url))})
    const bound = sharedThreadLimit(2)
    if (!bound.mayGrow()) throw new Error('not one')
    bound.started()
    if (bound.mayGrow()) throw new Error('too many')`)
  assert.ok(!bound.mayGrow())
  bound.ended()
  assert.ok(bound.mayGrow())
  bound.started()
  await thread.worker.terminate()
  assert.ok(bound.mayGrow())
  bound.ended()
})
