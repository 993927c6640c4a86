/** What a thread of a pool runs: one task after the other, each the default export of a module that is loaded once. */
import { syncBuiltinESMExports } from 'node:module'
import workerThreads, { type Transferable } from 'node:worker_threads'
import { BusbarError } from '../../contract/errors.ts'
import { exact } from '../exact.ts'
import type { FromThread, ThreadInit, ToThread } from '../messages.ts'
import { toTaskErrorRecord } from '../task-error.ts'
import { loadTask } from './load-task.ts'
import { RunningTask } from './running-task.ts'
import type { Movable } from '../movable.ts'

const { port, flags } = workerThreads.workerData as ThreadInit
// The port to the pool is no task's.
Object.assign(workerThreads, { workerData: null })
syncBuiltinESMExports()

let running: RunningTask | undefined

port.on('message', (order: ToThread) => {
  if (order.type === 'run') void run(order)
  else if (running?.id === order.id) running.look()
})
// An input that cannot be read here: the pool has no other task in this thread than this one.
port.on('messageerror', (error: Error) => say({ type: 'failed', id: 0, error: toTaskErrorRecord(unreadable(error)) }))
say({ type: 'ready' })

async function run({ id, module, input }: Extract<ToThread, { type: 'run' }>): Promise<void> {
  const task = (running = new RunningTask(id, flags))
  try {
    const work = loadTask(module)
    const value = exact(await (typeof work === 'function' ? work : await work)(input, task.context))
    reply(id, value, task.transferred)
  } catch (error) {
    say({ type: 'failed', id, error: toTaskErrorRecord(error) })
  } finally {
    running = undefined
  }
}

function reply(id: number, value: unknown, transferred: readonly Movable[]): void {
  try {
    say({ type: 'returned', id, value }, transferred)
  } catch (cause) {
    const message = `the result of a task cannot be cloned: ${(cause as Error).message}`
    throw new BusbarError('TASK_INVALID', { message, cause, hint: 'return data: no functions, no streams' })
  }
}

function unreadable(cause: Error): BusbarError {
  return new BusbarError('TASK_INVALID', { message: `the input of a task cannot be read: ${cause.message}`, cause })
}

function say(message: FromThread, transferred: readonly Movable[] = []): void {
  port.postMessage(message, transferred as readonly Transferable[])
}
