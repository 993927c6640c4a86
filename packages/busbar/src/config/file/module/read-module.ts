import { SHARE_ENV, Worker } from 'node:worker_threads'
import { BusbarError, restoreError } from '../../../contract/errors.ts'
import { moduleFile } from '../../../shared/package-files.ts'
import { threadFlags } from '../../../shared/process/inherited-flags.ts'
import type { ConfigContext } from '../../define.ts'
import { fromData } from './as-data.ts'
import type { ModuleOutcome, ModuleRequest } from './messages.ts'

/**
 * Runs a config in a thread of its own. In the main thread its `process.exit()` would end a running
 * app that reads its config again, and no connections would be accepted while it works. Another
 * thread also means that a config, and what it imports, is always read anew.
 */
export async function readModule(file: string, { env, root }: ConfigContext, timeout: number): Promise<unknown> {
  const workerData: ModuleRequest = {
    file,
    root,
    env: env === process.env ? undefined : { ...env },
    argv: process.argv,
  }
  const thread = new Worker(moduleFile('config/file/module/main'), {
    name: 'busbar config',
    workerData,
    // What a config adds to `process.env` fills its placeholders.
    env: SHARE_ENV,
    ...(threadFlags && { execArgv: threadFlags }),
  })
  const { outcome, isOver } = await outcomeOf(thread, file, timeout)
  const ended = thread.terminate()
  // A thread that waits within a system call ends when that returns.
  if (isOver) thread.unref()
  else await ended
  if (outcome instanceof BusbarError) throw outcome
  return outcome
}

interface Finished {
  /** The config, or a BusbarError. */
  readonly outcome: unknown
  /** The time was over. */
  readonly isOver: boolean
}

async function outcomeOf(thread: Worker, file: string, timeout: number): Promise<Finished> {
  const unreadable = (why: string, cause?: unknown): BusbarError =>
    new BusbarError('CONFIG_UNREADABLE', { message: `${file} cannot be read: ${why}`, cause })
  const { promise, resolve } = Promise.withResolvers<Finished>()
  const finish = (outcome: unknown, isOver = false): void => resolve({ outcome, isOver })
  const timer = setTimeout(
    () => finish(unreadable(`it has not finished within ${timeout / 1000} seconds`), true),
    timeout,
  )
  thread
    .on('message', (outcome: ModuleOutcome) => finish(resultOf(outcome, unreadable)))
    .on('error', (error: unknown) => finish(unreadable(messageOf(error), error)))
    .on('exit', (code) => finish(unreadable(`it calls process.exit(${code})`)))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}

function resultOf(outcome: ModuleOutcome, unreadable: (why: string) => BusbarError): unknown {
  switch (outcome.is) {
    case 'value':
      return fromData(outcome.data)
    case 'failed':
      return restoreError(outcome.error)
    case 'unsettled':
      return unreadable('it awaits a promise that never settles')
  }
}

/** Such as the end of the thread's memory. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
