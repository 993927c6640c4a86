import type { App } from '../../config/app.ts'
import type { ScalingRange } from '../../shared/app/supervision.ts'
import type { Generations } from '../generations/generations.ts'
import type { SlotTable } from '../generations/slot-table.ts'
import type { Pulse } from '../pulse.ts'
import type { Timing } from '../timing.ts'
import type { Launcher } from '../workers/launcher.ts'
import type { WorkerHandle } from '../workers/worker-handle.ts'
import { busyFrom, type Load, queueFrom, ScalingDecision } from './decision.ts'
import { LoadReader } from './load-reader.ts'
import { roomFor } from './memory-room.ts'
import { type Scalable, scalablesOf, withInstances } from './scalables.ts'

export interface AutoscalerParts {
  readonly app: () => App
  readonly slots: Pick<SlotTable, 'current'>
  readonly generations: Pick<Generations, 'change'>
  readonly launcher: Pick<Launcher, 'cells' | 'instances'>
  readonly timing: Pick<Timing, 'scale'>
  readonly pulse: Pulse
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/** Scales by load until the returned function is called. */
export function openAutoscaler(parts: AutoscalerParts): () => void {
  const { cells, instances } = parts.launcher
  return new Autoscaler(parts, new LoadReader(cells, instances)).open()
}

/** Bytes of an instance that has not reported yet. */
const unknownMemory = 64 * 1024 ** 2

/** Changes the number of instances by load, within the range of the config and the free memory. */
class Autoscaler {
  readonly #parts: AutoscalerParts
  readonly #loads: LoadReader
  readonly #decisions = new Map<string, ScalingDecision>()
  /** Scalings for which the memory did not suffice: they are logged once. */
  readonly #refused = new Set<string>()
  #isChanging = false

  constructor(parts: AutoscalerParts, loads: LoadReader) {
    this.#parts = parts
    this.#loads = loads
  }

  /** Returns a function that ends it. */
  open(): () => void {
    const { pulse, timing } = this.#parts
    return pulse.every(timing.scale, () => this.#look())
  }

  /** One change at a time: the next samples show its effect. */
  async #look(): Promise<void> {
    if (this.#isChanging) return
    this.#isChanging = true
    try {
      for (const one of scalablesOf(this.#parts.app())) await this.#scale(one)
    } finally {
      this.#isChanging = false
    }
  }

  async #scale({ service, name, range }: Scalable): Promise<void> {
    const workers = this.#workersOf(service)
    // A worker that starts or restarts says nothing yet.
    if (workers === undefined) return
    const load = this.#loads.read(service, workers)
    const decision = this.#decisions.get(name) ?? new ScalingDecision()
    this.#decisions.set(name, decision)
    const count = this.#affordable(name, load, decision.next(load, range), workers)
    if (count === load.instances) return
    this.#parts.log('info', `${name} scales from ${load.instances} to ${count} instances: ${figuresOf(load, range)}`)
    try {
      await this.#parts.generations.change((running) => withInstances(running, service, count), [])
    } catch (error) {
      this.#parts.log('warn', `${name} was not scaled: ${(error as Error).message}`)
    }
  }

  /** Undefined while not all of them serve. */
  #workersOf(service: string | undefined): readonly WorkerHandle[] | undefined {
    const slots = this.#parts.slots.current.filter(({ spec }) =>
      service === undefined ? spec.kind === 'shared' : spec.hosts.some(({ name }) => name === service),
    )
    const workers = slots.flatMap(({ serving }) => serving ?? [])
    return workers.length === slots.length && workers.length > 0 ? workers : undefined
  }

  /** As many of the wanted instances as the memory suffices for. */
  #affordable(name: string, { instances }: Load, wanted: number, workers: readonly WorkerHandle[]): number {
    if (wanted <= instances) return wanted
    const each = this.#loads.memoryOf(workers) ?? unknownMemory
    const { room, available, limit } = roomFor(each)
    if (room >= wanted - instances) {
      this.#refused.delete(name)
      return wanted
    }
    if (!this.#refused.has(name))
      this.#parts.log(
        'warn',
        `${name} needs ${wanted} instances, and memory suffices for ${instances + room}: one uses ${megabytes(each)}, and ${megabytes(available)} of ${megabytes(limit)} are available`,
      )
    this.#refused.add(name)
    return instances + room
  }
}

function figuresOf({ utilization, waiting, queueTime }: Load, { min, max }: ScalingRange): string {
  const loops = `event loops ${Math.round(utilization * 100)} % busy (limit ${busyFrom * 100} %)`
  const queue = `${waiting} calls wait about ${Math.round(queueTime)} ms (limit ${queueFrom} ms)`
  return `${loops}, ${queue}, range ${min} to ${max}`
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`
}
