/** Why a worker ended, said as one sentence. */
import { BusbarError } from '../contract/errors.ts'
import type { FromWorker } from '../shared/control.ts'
import type { WorkerExit } from './running.ts'

type Fault = Extract<FromWorker, { type: 'fault' }>

export const stopped: WorkerExit = { why: 'stop', service: undefined, error: undefined, text: 'it was stopped' }

/** Nothing explains it yet. */
export const ending: WorkerExit = { why: 'unknown', service: undefined, error: undefined, text: 'its thread is ending' }

export function threadExited(code: number): WorkerExit {
  return { why: 'exit', service: undefined, error: undefined, text: `its thread ended with code ${code}` }
}

/** `service`: the one that it hosts. */
export function processExited(code: number | null, signal: NodeJS.Signals | null, service: string): WorkerExit {
  return signal === null
    ? { why: 'exit', service, error: undefined, text: `its process ended with code ${code}` }
    : { why: 'signal', service, error: undefined, text: `its process was ended by ${signal}` }
}

/** `rss` is what it holds, `limit` what it may, in bytes. */
export function tooLarge(rss: number, limit: number, service: string): WorkerExit {
  const text = `it held ${megabytes(rss)} of memory, and ${megabytes(limit)} are its limit`
  return { why: 'memory', service, error: undefined, text }
}

/** Something in the process wrote to the channel to the supervisor, which only Busbar does. */
export function channelBroken(service: string, thrown: unknown): WorkerExit {
  const error = BusbarError.from(thrown, 'WORKER_DIED')
  return { why: 'exception', service, error, text: `what it sent to Busbar cannot be read: ${error.message}` }
}

/** V8 itself ended the process. */
export function outOfHeap(service: string): WorkerExit {
  return { why: 'memory', service, error: undefined, text: 'it ran out of memory' }
}

export function startFailed(error: BusbarError): WorkerExit {
  return { why: 'start', service: error.service, error, text: `it could not start: ${error.message}` }
}

export function stuck(age: number): WorkerExit {
  const text = `its event loop had not turned for ${seconds(age)}`
  return { why: 'stuck', service: undefined, error: undefined, text }
}

/** `grace`: how long it had had, in milliseconds. */
export function overdue(service: string, grace: number): WorkerExit {
  const text = `a call to ${service} did not stop within ${grace} ms of being told to`
  return { why: 'overdue', service, error: undefined, text }
}

/** `loading`: the services that were being loaded; which of them holds the thread cannot be seen from outside. */
export function stuckAtStart(loading: readonly string[], age: number): WorkerExit {
  const [service] = loading
  const who = loading.length > 1 ? `one of the services ${loading.join(', ')}` : `service ${service}`
  return startFailed(
    new BusbarError('PROGRAM_START_TIMEOUT', {
      message: `${service === undefined ? 'the worker' : who} blocked its thread for ${seconds(age)} while it started`,
      hint: 'look for an endless loop or a blocking call at the top of its modules, or raise startTimeout',
      ...(service !== undefined && loading.length === 1 && { service }),
    }),
  )
}

/** The message names the service and what it did. */
export function faulted({ reason, service, error }: Fault): WorkerExit {
  return { why: reason, service, error: BusbarError.fromRecord(error), text: error.message }
}

/** Why an app ends that was configured to give up. `label`: how lines of the log call the worker. */
export function restartLimit(label: string, maxRestarts: number, last: WorkerExit | undefined): BusbarError {
  const times = maxRestarts === 1 ? 'once' : `${maxRestarts} times`
  return new BusbarError('WORKER_RESTART_LIMIT', {
    message: `worker ${label} died again after it was restarted ${times} (maxRestarts); the last time, ${last?.text ?? 'unknown'}`,
    hint: 'see its log above for what ended it, or leave maxRestarts away: then there is no limit',
    ...(last?.service !== undefined && { service: last.service }),
    cause: last?.error,
  })
}

/** What the thread's `'error'` event gave: nothing in the thread had caught it. */
export function threw(thrown: unknown): WorkerExit {
  const error = BusbarError.from(thrown, 'WORKER_DIED')
  return isOutOfMemory(thrown)
    ? { why: 'memory', service: undefined, error, text: 'it ran out of memory' }
    : { why: 'exception', service: error.service, error, text: `an exception that nothing caught: ${error.message}` }
}

function isOutOfMemory(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MB`
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
