import type { Socket } from 'node:net'
import type { App } from '../../config/app.ts'
import { connectsToCommands } from '../../config/gateway/commands.ts'
import { isRawEntry } from '../../config/gateway/raw-entry.ts'
import type { ListenerSpec } from '../../shared/control.ts'
import { pairsOfDescriptors } from '../../shared/descriptors.ts'
import { type Plan, servedAt } from '../plan.ts'
import type { WorkerSlot } from '../slot.ts'
import type { Timing } from '../timing.ts'
import { Acceptor } from './accept.ts'
import { reservePorts } from './reserve-ports.ts'
import { StandIn } from './stand-in.ts'

export interface PublicPortsParts {
  readonly app: () => App
  readonly plan: Plan
  readonly slots: () => readonly WorkerSlot[]
  readonly hasCertificates: () => boolean
  readonly timing: Timing
  readonly say: (level: 'info' | 'warn' | 'error', line: string) => void
}

/** The gateway's port and those that services expose: which workers take their connections, and what is answered without one. */
export class PublicPorts {
  readonly #parts: PublicPortsParts
  readonly #acceptor: Acceptor
  readonly #standIn: StandIn | undefined
  #specs: readonly ListenerSpec[]
  #mostAtGateway = Infinity
  #isOpen = false

  constructor(parts: PublicPortsParts) {
    const { timing, say, plan } = parts
    this.#parts = parts
    this.#specs = plan.listeners
    this.#acceptor = new Acceptor({
      serving: (listener) => this.#takersOf(listener).flatMap(({ serving }) => serving ?? []),
      isComing: (listener) => this.#takersOf(listener).some(({ isComing }) => isComing),
      isTls: (listener) => this.#isTls(listener),
      mostAt: (listener) => (listener === 'gateway' ? this.#mostAtGateway : Infinity),
      timing,
      say,
    })
    const isServed = (listener: string): boolean =>
      this.#takersOf(listener).some(({ serving }) => serving !== undefined)
    if (plan.accept === 'reusePort')
      this.#standIn = new StandIn({ acceptor: this.#acceptor, listeners: () => this.#specs, isServed, say })
  }

  /** With the real ports once they are open. */
  get specs(): readonly ListenerSpec[] {
    return this.#specs
  }

  /** Rejects where a port cannot be had. What was reserved is held until `release`. */
  async reserve(): Promise<{ release: () => Promise<void> }> {
    const { specs, release } = await reservePorts(this.#specs, this.#standIn !== undefined)
    this.#specs = specs
    return { release }
  }

  /** When every worker serves; under `accept: 'reusePort'` they have opened the ports themselves. */
  async open(): Promise<void> {
    // Now that everything has started, and has the descriptors that it needs.
    if (connectsToCommands(this.#parts.app())) this.#mostAtGateway = Math.max(1, pairsOfDescriptors())
    if (this.#standIn === undefined)
      this.#specs = await Promise.all(this.#specs.map((spec) => this.#acceptor.open(spec)))
    this.#isOpen = true
    this.review()
  }

  /** A worker has begun to serve, or has ended. */
  review(): void {
    if (!this.#isOpen) return
    this.#acceptor.review()
    this.#standIn?.review()
  }

  /** A connection that a worker was handed and did not take. */
  again(listener: string, socket: Socket): void {
    this.#acceptor.again(listener, socket)
  }

  async close(): Promise<void> {
    await this.#standIn?.close()
    await this.#acceptor.close()
  }

  /** The slots whose workers take the connections of a port. */
  #takersOf(listener: string): WorkerSlot[] {
    const { app, plan, slots } = this.#parts
    const all = slots()
    return servedAt(this.#specOf(listener), app(), plan.places).map(({ place }) => all[place]!)
  }

  /** A program's own server may take TLS connections where it has them raw. */
  #isTls(listener: string): boolean {
    const { serves } = this.#specOf(listener)
    const app = this.#parts.app()
    if (serves.kind === 'gateway' && !isRawEntry(app)) return this.#parts.hasCertificates()
    const service = serves.kind === 'service' ? serves.service : app.gateway.entry
    const reports = this.#takersOf(listener).flatMap((slot) => slot.reports)
    return reports.some(({ name, tls }) => name === service && tls === true)
  }

  #specOf(listener: string): ListenerSpec {
    return this.#specs.find(({ id }) => id === listener)!
  }
}
