import { BusbarError, restoreError } from '../../contract/errors.ts'
import type { FromWorker } from '../../shared/control-messages.ts'
import { programStack } from '../../shared/program-stack.ts'

/** Why a worker ended. */
export interface WorkerExit {
  /**
   * `signal`: sent from outside the program, as by `kill -9`. `overdue`: the worker was ended
   * because a call ignored its cancellation; only that call was lost.
   */
  readonly why:
    | 'exception'
    | 'rejection'
    | 'exit'
    | 'signal'
    | 'memory'
    | 'stuck'
    | 'overdue'
    | 'start'
    | 'stop'
    | 'unknown'
  /** The service whose code caused it; undefined if unknown. */
  readonly service: string | undefined
  readonly error: BusbarError | undefined
  /** One sentence, without the number of the worker. */
  readonly text: string
  /** Of what the program threw, or of what blocked its event loop, if known. */
  readonly stack?: readonly string[]
}

type Fault = Extract<FromWorker, { type: 'fault' }>

export const stopped: WorkerExit = { why: 'stop', service: undefined, error: undefined, text: 'it was stopped' }

/** The cause is not known yet. */
export const ending: WorkerExit = { why: 'unknown', service: undefined, error: undefined, text: 'its thread is ending' }

export function threadExited(code: number): WorkerExit {
  return { why: 'exit', service: undefined, error: undefined, text: `its thread ended with code ${code}` }
}

/** `service`: the one that the process hosts. */
export function processExited(code: number | null, signal: NodeJS.Signals | null, service: string): WorkerExit {
  return signal === null
    ? { why: 'exit', service, error: undefined, text: `its process ended with code ${code}` }
    : { why: 'signal', service, error: undefined, text: `its process was ended by ${signal}` }
}

/** `rss` and `limit` are bytes. */
export function tooLarge(rss: number, limit: number, service: string): WorkerExit {
  const text = `it used ${megabytes(rss)} of memory, and its limit is ${megabytes(limit)}`
  return { why: 'memory', service, error: undefined, text }
}

/** Code of the program wrote to the channel to the supervisor, which is reserved for Busbar. */
export function channelBroken(service: string, thrown: unknown): WorkerExit {
  const error = BusbarError.from(thrown, 'WORKER_DIED')
  return { why: 'exception', service, error, text: `it sent Busbar a message that cannot be read: ${error.message}` }
}

/** V8 itself ended the process. */
export function outOfHeap(service: string): WorkerExit {
  return { why: 'memory', service, error: undefined, text: 'it ran out of memory' }
}

export function startFailed(error: BusbarError): WorkerExit {
  return {
    why: 'start',
    service: error.service,
    error,
    text: `it could not start: ${error.message}`,
    ...stackOf(error),
  }
}

/** `age`: milliseconds since the last heartbeat. `service`: the one whose code ran, if known. */
export function stuck(age: number, stack?: readonly string[], service?: string): WorkerExit {
  const text = `its event loop was blocked for ${seconds(age)}${place(stack)}`
  return { why: 'stuck', service, error: undefined, text, ...(stack !== undefined && { stack }) }
}

/** `grace`: milliseconds that the call had to stop after its cancellation. */
export function overdue(service: string, grace: number): WorkerExit {
  const text = `a call to ${service} did not stop within ${grace} ms of its cancellation`
  return { why: 'overdue', service, error: undefined, text }
}

/**
 * `loading`: the services that were being loaded. Which of them blocks the thread cannot be seen
 * from outside. `age`: milliseconds since the last heartbeat.
 */
export function stuckAtStart(loading: readonly string[], age: number, stack?: readonly string[]): WorkerExit {
  const [service] = loading
  const who = loading.length > 1 ? `one of the services '${loading.join("', '")}'` : `service '${service}'`
  const exit = startFailed(
    new BusbarError('PROGRAM_START_TIMEOUT', {
      message: `${service === undefined ? 'the worker' : who} blocked its thread for ${seconds(age)} while it started${place(stack)}`,
      hint:
        service === undefined
          ? 'It had loaded no service yet: the machine may be overloaded. With a larger startTimeout it has more time.'
          : 'Look for an endless loop or a blocking call at the top of its modules, or raise startTimeout.',
      ...(service !== undefined && loading.length === 1 && { service }),
    }),
  )
  return { ...exit, ...(stack !== undefined && { stack }) }
}

/** The message of the error names the service and the fault. */
export function faulted({ reason, service, error }: Fault): WorkerExit {
  const restored = restoreError(error)
  return { why: reason, service, error: restored, text: error.message, ...stackOf(restored) }
}

/** A status holds it until the next exit. */
const mostLines = 20

function stackOf(error: BusbarError): Pick<WorkerExit, 'stack'> {
  const stack = programStack(error)
  return stack === undefined ? {} : { stack: stack.split('\n').slice(0, mostLines) }
}

/** Why an app with `maxRestarts` ends. `label`: the worker, as {@link workerLabel} names it. */
export function restartLimit(label: string, maxRestarts: number, last: WorkerExit | undefined): BusbarError {
  const times = maxRestarts === 1 ? 'once' : `${maxRestarts} times`
  return new BusbarError('WORKER_RESTART_LIMIT', {
    message: `worker ${label} died again after it was restarted ${times} (maxRestarts); the last time, ${last?.text ?? 'unknown'}`,
    hint: 'See the log above for the cause, or remove maxRestarts to restart without a limit.',
    ...(last?.service !== undefined && { service: last.service }),
    cause: last?.error,
  })
}

/**
 * `thrown`: what the thread's `'error'` event reported. Nothing inside the thread had caught it.
 * `service`: the only one that the thread hosts.
 */
export function threw(thrown: unknown, service: string | undefined): WorkerExit {
  const error = BusbarError.from(thrown, 'WORKER_DIED')
  return isOutOfMemory(thrown)
    ? { why: 'memory', service, error, text: 'it ran out of memory' }
    : { why: 'exception', service: error.service, error, text: `uncaught exception: ${error.message}` }
}

function isOutOfMemory(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MB`
}

/** The innermost frame, without its `at`. */
function place(stack: readonly string[] | undefined): string {
  return stack?.[0] === undefined ? '' : ` ${stack[0]}`
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
