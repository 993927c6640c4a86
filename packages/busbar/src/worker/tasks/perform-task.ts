import { BusbarError } from '../../contract/errors.ts'
import type { WorkerTask } from '../../shared/worker-tasks.ts'
import type { WorkerApp } from '../lifecycle/worker-app.ts'
import { callMethod } from './call-method.ts'
import { evaluate } from './evaluate.ts'
import { profile } from './profile.ts'
import { constants } from 'node:os'
import { writeHeapSnapshot } from 'node:v8'

/** Resolves to the task's result, which every channel can carry. */
export async function performTask(task: WorkerTask, worker: WorkerApp): Promise<unknown> {
  switch (task.kind) {
    case 'call':
      return await callMethod(task, worker.hosted(task.service))
    case 'signal':
      return signalService(task, worker)
    case 'evaluate':
      return await permitted('code', () => evaluate(task, worker.hosted(task.service)))
    case 'queue':
      return await worker.hosted(task.service).queue?.order(task.order)
    case 'heapSnapshot':
      return await permitted('a heap snapshot', async () => takeHeapSnapshot(task))
    case 'profile':
      return await permitted('a profile', () => profile(task))
  }
}

/** A process with `permissions` may have neither the inspector nor the folder for the file. */
async function permitted<T>(what: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'ERR_ACCESS_DENIED') throw error
    throw new BusbarError('OPERATION_UNSUPPORTED', {
      message: `the permissions of this process do not allow ${what}: ${(error as Error).message}`,
      hint: 'Add that flag to its nodeOptions, or take its permissions out of the config.',
      cause: error,
    })
  }
}

type SignalTask = Extract<WorkerTask, { kind: 'signal' }>

/**
 * Runs the service's own handlers, as for a process of its own. Returns whether it has any. Without
 * a handler nothing happens: the default of most signals would end the worker.
 */
function signalService({ service, signal }: SignalTask, worker: WorkerApp): boolean {
  const program = worker.programOf(service)
  if (program === undefined || program.listeners(signal).length === 0) return false
  const hosted = worker.hosted(service)
  // In a turn of its own: a handler that throws or exits is the program's fault, not the task's.
  setImmediate(() => {
    hosted.enter({ service, hops: 0 }, () => program.emit(signal, signal, constants.signals[signal]))
  })
  return true
}

/** The thread stands still meanwhile, about a second for each 100 MB. */
function takeHeapSnapshot({ file }: Extract<WorkerTask, { kind: 'heapSnapshot' }>): void {
  writeHeapSnapshot(file)
}
