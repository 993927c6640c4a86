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
      return await evaluate(task, worker.hosted(task.service))
    case 'queue':
      return await worker.hosted(task.service).queue?.order(task.order)
    case 'heapSnapshot':
      return takeHeapSnapshot(task)
    case 'profile':
      return await profile(task)
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
