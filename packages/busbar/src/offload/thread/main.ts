/**
 * Entry of a pool's thread. Runs one task after the other; each is a module's default export,
 * loaded once.
 */
import { syncBuiltinESMExports } from 'node:module'
import workerThreads, { type Transferable } from 'node:worker_threads'
import { BusbarError } from '../../contract/errors.ts'
import { runInTaskTrace } from '../../shared/traces/task-trace.ts'
import { compactViews } from '../compact-views.ts'
import type { FromThread, ThreadInit, ToThread } from '../messages.ts'
import type { TransferableObject } from '../transferable.ts'
import { toTaskErrorRecord } from '../task-error.ts'
import { loadTask } from './load-task.ts'
import { RunningTask } from './running-task.ts'

const { port, flags } = workerThreads.workerData as ThreadInit
// Hides the port to the pool from tasks.
Object.assign(workerThreads, { workerData: null })
syncBuiltinESMExports()

let running: RunningTask | undefined

port.on('message', (order: ToThread) => {
  if (order.type === 'run') void run(order)
  else if (running?.id === order.id) running.checkFlags()
})
// An input that cannot be deserialised. It belongs to the only task that the pool has in this
// thread.
port.on('messageerror', (error: Error) => post({ type: 'failed', id: 0, error: toTaskErrorRecord(unreadable(error)) }))
post({ type: 'ready' })

async function run({ id, module, input, trace }: Extract<ToThread, { type: 'run' }>): Promise<void> {
  const task = (running = new RunningTask(id, flags))
  try {
    const work = loadTask(module)
    const begin = typeof work === 'function' ? work : await work
    const value = compactViews(await runInTaskTrace(trace, () => begin(input, task.context)))
    reply(id, value, task.transferred)
  } catch (error) {
    post({ type: 'failed', id, error: toTaskErrorRecord(error) })
  } finally {
    running = undefined
  }
}

function reply(id: number, value: unknown, transferred: readonly TransferableObject[]): void {
  try {
    post({ type: 'returned', id, value }, transferred)
  } catch (cause) {
    const message = `the result of a task cannot be cloned: ${(cause as Error).message}`
    throw new BusbarError('TASK_INVALID', { message, cause, hint: 'Return data only: no functions, no streams.' })
  }
}

function unreadable(cause: Error): BusbarError {
  return new BusbarError('TASK_INVALID', { message: `the input of a task cannot be read: ${cause.message}`, cause })
}

function post(message: FromThread, transferred: readonly TransferableObject[] = []): void {
  port.postMessage(message, transferred as readonly Transferable[])
}
