import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { boundedTogether } from '../../src/offload/bound.ts'
import { createOffload } from '../../src/offload/offload.ts'
import { TestFolder } from '../support/folder.ts'
import { ObedientThread } from '../support/obedient-thread.ts'
import { hold } from './hold.ts'

const task = new URL('programs/task.js', import.meta.url)
const sources = JSON.stringify(new URL('../../src/offload/offload.ts', import.meta.url))

test('a program that has nothing else to do ends by itself, and not before its tasks', async () => {
  const program = `
    import { offload } from ${sources}
    const task = ${JSON.stringify(task)}
    console.log(await offload(task, { do: 'echo', value: 'first' }))
    offload(task, { do: 'echo', value: 'second' }).then(console.log)
    offload(task, { do: 'awaits' }, { timeout: 30 }).then(console.log)`
  using folder = new TestFolder({ 'program.ts': program })
  const child = spawn(process.execPath, [folder.at('program.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  assert.deepEqual([printed, code], ['first\nsecond\nstopped\n', 0])
})

test('threads share what is shared', async () => {
  const program = `
    import { offload } from ${sources}
    import { shared } from ${JSON.stringify(new URL('../../src/state/shared.ts', import.meta.url))}
    await offload(${JSON.stringify(new URL('programs/counts.ts', import.meta.url))}, 5)
    console.log(shared.counter('counted').value)`
  using folder = new TestFolder({ 'program.ts': program })
  const child = spawn(process.execPath, [folder.at('program.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  assert.equal(await text(child.stdout), '5\n')
})

test('threads that have nothing to do are ended after a while, but for one', async () => {
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

test('pools of several threads have together as many as one may have, and each at least one', async () => {
  const bound = boundedTogether(2)
  assert.ok(bound.mayGrow())
  bound.started()
  assert.ok(bound.mayGrow())
  await using thread = new ObedientThread()
  await thread.run(`
    const { boundedTogether } = await import(${JSON.stringify(new URL('../../src/offload/bound.ts', import.meta.url))})
    const bound = boundedTogether(2)
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
