import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { App, Service } from '../../config/app.ts'
import type { Trial } from '../../shared/app/supervision.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { SlowStartSpec } from '../../shared/slow-start.ts'
import type { CallPorts } from '../accept/call-ports.ts'
import type { PublicPorts } from '../accept/public-ports.ts'
import { unmetNeed } from '../needs.ts'
import { hasFixedPort, planApp, type SlotSpec } from '../plan.ts'
import { startSlots } from '../start-slots.ts'
import type { Launcher } from '../workers/launcher.ts'
import type { WorkerSlot } from '../workers/worker-slot.ts'
import { CallRate } from './call-rate.ts'
import type { Difference } from './difference.ts'
import type { SlotTable } from './slot-table.ts'
import { tryOut, unhealthy, type Untested } from './trial.ts'

export interface GenerationParts {
  readonly slots: SlotTable
  readonly launcher: Pick<Launcher, 'place' | 'announceServices' | 'instances'>
  readonly ports: Pick<PublicPorts, 'add' | 'keep' | 'entrance' | 'wouldOpenEntrance'>
  readonly callPorts: Pick<CallPorts, 'add'>
  readonly createSlot: (spec: SlotSpec, app: App) => WorkerSlot
  /** The app runs as `next` from now on. */
  readonly activate: (next: App) => unknown
}

/**
 * How many workers start at a time while others serve, unless the config says it. A start keeps a
 * core busy: the other cores are for the requests (docs/decisions/run/generations.md).
 */
const besideOthers = Math.max(1, Math.floor(availableParallelism() / 2))

/** A slot that gets a worker of the new generation. */
interface Change {
  readonly slot: WorkerSlot
  readonly spec: SlotSpec
}

/**
 * One change of a running app: `prepare` starts the new workers beside the old ones, then
 * `takeOver` gives them all connections and calls and drains the old workers, or `discard` ends
 * them. Until `takeOver`, clients see nothing of it.
 */
export class Generation {
  readonly #parts: GenerationParts
  readonly #from: App
  readonly #to: App
  readonly #difference: Difference
  readonly #changes: readonly Change[]
  #undoPlaces: () => void = () => {}
  /** Of the workers that this generation ends. */
  readonly #calls: CallRate

  constructor(from: App, to: App, difference: Difference, parts: GenerationParts) {
    this.#parts = parts
    this.#from = from
    this.#to = to
    this.#difference = difference
    const { current } = parts.slots
    this.#changes = difference.slots.flatMap(({ is, spec }): Change[] => {
      if (is === 'kept') return []
      return [{ spec, slot: is === 'added' ? parts.createSlot(spec, to) : slotAt(current, spec) }]
    })
    const ending = [
      ...this.#changes.map(({ slot }) => slot),
      ...difference.removed.map((spec) => slotAt(current, spec)),
    ]
    const rows = ending.flatMap(({ serving }) => serving?.row ?? [])
    this.#calls = new CallRate(parts.launcher.instances, rows)
  }

  /** Rejects with the first error of a service that does not start. */
  async prepare(): Promise<void> {
    const { slots, launcher, ports, callPorts } = this.#parts
    this.#checkNeeds()
    this.#undoPlaces = launcher.place(this.#to.services)
    // Before one of them is announced: a worker must know each service that another one serves.
    launcher.announceServices(this.#callable(), slots.workers, 'for now')
    slots.begin(this.#added)
    await ports.add(planApp(this.#to).listeners)
    await callPorts.add(this.#to)
    const isExclusive = ({ slot }: Change): boolean => hasFixedPort(slot.spec, this.#to)
    await this.#start(this.#changes.filter((change) => !isExclusive(change)))
    // Last, because their old workers must end first: both would listen on the same port.
    await this.#start(this.#changes.filter(isExclusive))
    this.#checkReady()
  }

  /**
   * Both generations serve for a while, or until `signal` aborts: under load, and if the config has
   * a trial and this generation has new code. Rejects if one of its workers ends, and with
   * GENERATION_WORSE if it is worse. Resolves to the services that were not compared.
   */
  async serveBeside(hasNewCode: boolean, signal: AbortSignal): Promise<readonly Untested[]> {
    const { trial, slowStart = 0 } = this.#to
    const window = this.#changes.length > 0 && this.#calls.isFrequent ? slowStart : 0
    if (hasNewCode && trial !== undefined && this.#replaced.length > 0) return await this.#tryOut(trial, window, signal)
    if (window > 0) await this.#startSlowly(this.#changes, { window, most: 1 }, signal)
    this.#checkReady()
    return []
  }

  async #tryOut(trial: Trial, window: number, signal: AbortSignal): Promise<readonly Untested[]> {
    // Owners of a queue's file are not compared: one at a time has it.
    const replaced = this.#replaced.filter(({ spec }) => spec.queueFile === undefined)
    const old = replaced.map(({ slot }) => slot.serving!.row)
    const young = replaced.flatMap(({ slot }) => slot.successor?.row ?? [])
    const start = async (): Promise<void> => {
      await this.#startSlowly(replaced, { window, most: 0.5 }, signal)
      this.#shareConnections()
    }
    const untested = await tryOut(trial, this.#parts.launcher.instances, { old, young }, signal, start)
    this.#checkReady()
    this.#checkHealthy()
    return untested
  }

  /** The new workers of `changes` get more and more of the calls and connections. */
  async #startSlowly(changes: readonly Change[], spec: SlowStartSpec, signal: AbortSignal): Promise<void> {
    for (const { slot } of changes) slot.serveBeside(spec)
    if (spec.window === 0) return
    const pause = (): Promise<unknown> => sleep(spec.window / 2, undefined, { signal }).catch(() => {})
    await pause()
    this.#shareConnections()
    await pause()
  }

  takeOver(): void {
    const { slots, launcher, ports, activate } = this.#parts
    const { current } = slots
    const removed = this.#difference.removed.map((spec) => slotAt(current, spec))
    for (const { is, spec } of this.#difference.slots) if (is === 'kept') slotAt(current, spec).keep(this.#to, spec)
    slots.takeOver(removed)
    activate(this.#to)
    launcher.announceServices(this.#to.services, this.#remaining(current, removed))
    for (const { slot } of this.#changes) slot.takeOver()
    for (const slot of removed) slots.retire(slot, this.#to.stopTimeout)
    void ports.keep(planApp(this.#to).listeners)
  }

  async discard(): Promise<void> {
    const { slots, launcher, ports } = this.#parts
    await Promise.all(this.#changes.map(({ slot }) => slot.discard()))
    slots.discard()
    this.#undoPlaces()
    launcher.announceServices(this.#from.services, slots.workers)
    await ports.keep(planApp(this.#from).listeners)
  }

  /** Those whose worker serves while its successor starts. */
  get #replaced(): readonly Change[] {
    return this.#changes.filter(({ slot }) => slot.serving !== undefined)
  }

  /** Half of the clients of each old worker connect again, some of them to its successor. */
  #shareConnections(): void {
    for (const { slot } of this.#replaced) if (slot.successor !== undefined) slot.serving!.send({ type: 'share' })
  }

  get #added(): WorkerSlot[] {
    const { current } = this.#parts.slots
    return this.#changes.flatMap(({ slot }) => (current.includes(slot) ? [] : [slot]))
  }

  /** Those that go on calling: the new workers, and those that stay. */
  #remaining(current: readonly WorkerSlot[], removed: readonly WorkerSlot[]) {
    const kept = current.filter((slot) => !removed.includes(slot) && this.#changes.every((one) => one.slot !== slot))
    return [...kept.flatMap((slot) => slot.workers), ...this.#changes.flatMap(({ slot }) => slot.successor ?? [])]
  }

  /** While both generations run: the limits of the running one, and the services of both. */
  #callable(): Service[] {
    const { services } = this.#from
    return [...services, ...this.#to.services.filter(({ name }) => services.every((one) => one.name !== name))]
  }

  /** Does not wait for services that are down, and that this generation does not start. */
  #checkNeeds(): void {
    const { current } = this.#parts.slots
    const others = current.filter((slot) => this.#changes.every((change) => change.slot !== slot))
    const starting = this.#changes.flatMap(({ spec }) => spec.hosts)
    const unmet = unmetNeed(
      starting,
      this.#to.services,
      others.map(({ status }) => status),
    )
    if (unmet !== undefined) throw unmet
  }

  /** Throws if one of the new workers has ended. */
  #checkReady(): void {
    const lost = this.#changes.find(({ slot }) => slot.successor === undefined)
    if (lost === undefined) return
    throw new BusbarError('WORKER_DIED', {
      message: `the new worker ${lost.spec.name} ended before it took over`,
      hint: 'The log above shows why.',
    })
  }

  /**
   * Throws if a health check fails in one of the new workers, and not in the one that it replaces.
   */
  #checkHealthy(): void {
    for (const { slot } of this.#changes)
      for (const [service, why] of slot.successor!.unhealthy)
        if (slot.serving?.unhealthy.has(service) !== true) throw unhealthy(service, why)
  }

  /**
   * After a failure no more begin. Waits for those that have begun, then rejects with the first.
   */
  async #start(changes: readonly Change[]): Promise<void> {
    const begun: Promise<void>[] = []
    let hasFailed = false
    const starts = changes.map(({ slot, spec }) => ({
      spec,
      start: async () => {
        const start = slot.prepare(this.#to, spec)
        begun.push(start)
        try {
          await start
        } catch (error) {
          hasFailed = true
          throw error
        }
      },
    }))
    try {
      const { services, startConcurrency = besideOthers } = this.#to
      await startSlots(starts, { services, startConcurrency }, () => hasFailed)
    } finally {
      await Promise.allSettled(begun)
    }
  }
}

function slotAt(slots: readonly WorkerSlot[], { index }: SlotSpec): WorkerSlot {
  return slots.find(({ spec }) => spec.index === index)!
}
