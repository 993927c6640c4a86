import { BusbarError, isErrorCode } from '../../contract/errors.ts'
import type { FromWorker, ToWorker } from '../../shared/control-messages.ts'
import type { WorkerTask } from '../../shared/worker-tasks.ts'

type TaskDone = Extract<FromWorker, { type: 'taskDone' }>

/** The tasks of one worker that have not ended. */
export class PendingTasks {
  readonly #send: (order: ToWorker) => void
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #next = 0
  #ended: string | undefined

  constructor(send: (order: ToWorker) => void) {
    this.#send = send
  }

  /** Rejects with the task's own error, or with WORKER_DIED. */
  perform(task: WorkerTask): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(died(this.#ended))
    const id = this.#next++
    const pending = Promise.withResolvers<unknown>()
    this.#pending.set(id, pending)
    this.#send({ type: 'task', id, task })
    return pending.promise
  }

  done({ id, result, error }: TaskDone): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (error === undefined) pending?.resolve(result)
    else pending?.reject(toError(error))
  }

  /** `why`: the exit of the worker, as one sentence. */
  end(why: string): void {
    this.#ended = why
    for (const pending of this.#pending.values()) pending.reject(died(why))
    this.#pending.clear()
  }
}

/** A program that forges messages of its worker may write any code. */
function toError(record: NonNullable<TaskDone['error']>): BusbarError {
  if (isErrorCode(record.code)) return new BusbarError(record.code, record)
  return new BusbarError('INTERNAL', { message: record.message })
}

function died(why: string): BusbarError {
  return new BusbarError('WORKER_DIED', { message: `the worker ended before it had answered: ${why}` })
}
