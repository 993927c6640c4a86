import type { Address, App, Service } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { ToWorker } from '../../shared/control-messages.ts'
import { startFailed, stopped } from '../workers/worker-exit.ts'
import type { TransferResult, WorkerRuntime, RuntimeEvents } from './runtime.ts'

/** Opens the server of a test double in this process. */
export type OpenTestDouble = (service: Service, app: App) => Promise<OpenedTestDouble>

export interface OpenedTestDouble {
  readonly address: Address
  /** Stops accepting, and aborts in-flight calls after `timeout` milliseconds. Never rejects. */
  close(timeout: number): Promise<void>
}

export interface TestDoubleParts {
  readonly service: Service
  readonly app: App
  readonly open: OpenTestDouble
  /** Called with its address, just before it serves. */
  readonly answers: (address: Address) => void
}

/**
 * A test double: code of the process that started the app. Like a command, it has a port of its
 * own.
 */
export class TestDoubleRuntime implements WorkerRuntime {
  readonly pid = undefined
  readonly closed = 0
  readonly #parts: TestDoubleParts
  readonly #events: RuntimeEvents
  readonly #opening: Promise<OpenedTestDouble>
  #ending: Promise<void> | undefined
  #late: NodeJS.Timeout | undefined

  constructor(parts: TestDoubleParts, events: RuntimeEvents) {
    this.#parts = parts
    this.#events = events
    this.#opening = parts.open(parts.service, parts.app)
    void this.#start()
  }

  age(): number {
    return 0
  }

  async stack(): Promise<undefined> {}

  send(order: ToWorker): void {
    const { stopTimeout, name } = this.#parts.service
    if (order.type === 'released' && order.service === name) void this.#end(stopTimeout)
    if (order.type !== 'stop') return
    if (!order.inOrder) return void this.#end(order.timeout)
    // Nothing needs it, and it was released before this order.
    if (this.#ending !== undefined) return
    // As for a command: the services that need it may use up the timeout.
    this.#late = setTimeout(() => void this.#end(order.timeout / 2), order.timeout / 2)
  }

  /** It accepts for itself. */
  transfer(): TransferResult {
    return 'lost'
  }

  kill(): Promise<void> {
    return this.#end(0)
  }

  async #start(): Promise<void> {
    const { service, answers } = this.#parts
    const began = performance.now()
    try {
      const { address } = await this.#opening
      if (this.#ending !== undefined) return
      answers(address)
      this.#events.message({ type: 'started', service: service.name })
      const listens = `${address.host}:${address.port}`
      const startedIn = Math.round(performance.now() - began)
      this.#events.message({ type: 'ready', services: [{ name: service.name, listens, startedIn, warnings: [] }] })
    } catch (error) {
      this.#events.failing(startFailed(BusbarError.from(error)))
      void this.#end(0)
    }
  }

  #end(timeout: number): Promise<void> {
    return (this.#ending ??= this.#close(timeout))
  }

  async #close(timeout: number): Promise<void> {
    clearTimeout(this.#late)
    const opened = await this.#opening.catch(() => undefined)
    await opened?.close(timeout)
    this.#events.exited(stopped)
  }
}
