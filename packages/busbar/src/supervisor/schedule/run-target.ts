import { request, type IncomingMessage } from 'node:http'
import type { App, ScheduleEntry, ScheduleTarget } from '../../config/app.ts'
import type { CallAccess } from '../../shared/calls/call-access.ts'
import { connectToService } from '../../shared/calls/forward-request.ts'
import type { CallResult } from '../../shared/worker-tasks.ts'
import type { AppLogRecord } from '../running-app.ts'
import { OrphanReaper } from '../runtimes/orphan-reaper.ts'
import { OutputScheduler } from '../runtimes/output/output-scheduler.ts'
import type { WorkerHandle } from '../workers/worker-handle.ts'
import { runTask } from './task-process.ts'

export interface TargetParts {
  readonly app: () => App
  readonly calls: () => CallAccess
  /** All workers that have not ended. */
  readonly workers: () => readonly WorkerHandle[]
  readonly log: (record: AppLogRecord) => void
  readonly isLogBehind: (() => boolean) | undefined
}

/** Carries out runs of the schedule. */
export class TargetRunner {
  readonly #parts: TargetParts
  readonly #reaper = new OrphanReaper(undefined)
  readonly #output: OutputScheduler

  constructor(parts: TargetParts) {
    this.#parts = parts
    this.#output = new OutputScheduler(parts.isLogBehind)
  }

  /** Rejects if the run fails, or when `signal` aborts. */
  async run({ name, target, timeout }: ScheduleEntry, signal: AbortSignal): Promise<void> {
    if (target.kind === 'call') await untilAborted(this.#call(target, timeout), signal)
    else if (target.kind === 'request') await this.#request(target, signal)
    else await this.#task(name, target, signal)
  }

  /** After the last run. */
  async close(): Promise<void> {
    await this.#reaper.close()
  }

  /** Any worker that serves the service can start the call: it is balanced like every other one. */
  async #call({ service, method, input }: Extract<ScheduleTarget, { kind: 'call' }>, timeout: number): Promise<void> {
    const hosts = (worker: WorkerHandle): boolean => worker.spec.hosts.some((host) => host.name === service)
    const worker = this.#parts.workers().find((one) => one.serving && hosts(one))
    if (worker === undefined) throw new Error(`no instance of '${service}' serves`)
    const task = { kind: 'call', service, method, input, timeout, maxValues: 0 } as const
    const result = (await worker.perform(task)) as CallResult
    if (result.kind === 'failed') throw new Error(`${result.code}: ${result.message}`)
  }

  async #request(target: Extract<ScheduleTarget, { kind: 'request' }>, signal: AbortSignal): Promise<void> {
    const { service, verb: method, path, body } = target
    const headers = {
      host: `${service}.internal`,
      connection: 'close',
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const createConnection = () => connectToService(this.#parts.calls(), service)
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    request({ method, path, headers, createConnection, signal }).once('response', resolve).on('error', reject).end(body)
    const response = await promise
    // The run ends with the response's body, which nobody reads.
    for await (const _ of response);
    const { statusCode: status = 0, statusMessage } = response
    if (status >= 400)
      throw new Error(`${method} http://${service}.internal${path} was answered ${status} ${statusMessage}`)
  }

  async #task(name: string, target: Extract<ScheduleTarget, { kind: 'task' }>, signal: AbortSignal): Promise<void> {
    const { app, calls, log } = this.#parts
    await runTask(target, signal, {
      app: app(),
      calls: calls(),
      reaper: this.#reaper,
      scheduler: this.#output,
      line: (line) => log({ time: Date.now(), service: `schedule.${name}`, worker: undefined, ...line }),
    })
  }
}

/** The method continues until its deadline, or until the app has stopped its worker. */
async function untilAborted(call: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([call, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
