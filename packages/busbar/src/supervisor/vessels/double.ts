import type { Address, App, Service } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { ToWorker } from '../../shared/control.ts'
import { startFailed, stopped } from '../exit.ts'
import type { Handed, Vessel, VesselEvents } from './vessel.ts'

/** Opens a test double's server in this process. Rejects with why it cannot be had. */
export type OpenDouble = (service: Service, app: App) => Promise<OpenedDouble>

export interface OpenedDouble {
  readonly address: Address
  /** Takes no more calls, and ends those in flight after `timeout` milliseconds. Never rejects. */
  close(timeout: number): Promise<void>
}

export interface DoubleParts {
  readonly service: Service
  readonly app: App
  readonly open: OpenDouble
  /** Told where it answers, just before it serves. */
  readonly answers: (address: Address) => void
}

/** A test double: code of the process that started the app, with a port of its own like a command. */
export class DoubleVessel implements Vessel {
  readonly pid = undefined
  readonly closed = 0
  readonly #parts: DoubleParts
  readonly #events: VesselEvents
  readonly #opening: Promise<OpenedDouble>
  #ending: Promise<void> | undefined
  #late: NodeJS.Timeout | undefined

  constructor(parts: DoubleParts, events: VesselEvents) {
    this.#parts = parts
    this.#events = events
    this.#opening = parts.open(parts.service, parts.app)
    void this.#start()
  }

  age(): number {
    return 0
  }

  send(order: ToWorker): void {
    const { stopTimeout, name } = this.#parts.service
    if (order.type === 'released' && order.service === name) void this.#end(stopTimeout)
    if (order.type !== 'stop') return
    if (!order.inOrder) return void this.#end(order.timeout)
    // Like a command: those that need it may take all the time there is.
    this.#late = setTimeout(() => void this.#end(order.timeout / 2), order.timeout / 2)
  }

  /** It accepts for itself. */
  hand(): Handed {
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
