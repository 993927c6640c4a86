import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../../config/app.ts'
import type { EventAdmission } from '../../contract/host/event-inbox.ts'
import { type RunningCallsBoard, ConcurrencyGate } from '../../mesh/routing/limits/concurrency-gate.ts'
import { LimitedService } from '../../mesh/routing/limits/limited-service.ts'
import type { LocalEndpoint, RemoteEndpoint } from '../../mesh/routing/endpoint.ts'
import type { CallHandler, CallHead, Link } from '../../mesh/links/link.ts'
import { loopbackLink } from '../../mesh/transports/loopback.ts'
import type { WorkerInit } from '../../shared/control-messages.ts'
import type { Metering } from '../reporting/metering.ts'

/** The services with a `concurrency`, as this worker calls and hosts them. */
export class ConcurrencyLimits {
  /** For the instances that this worker hosts. */
  readonly gates: ReadonlyMap<string, ConcurrencyGate>
  readonly #init: WorkerInit
  readonly #metering: Metering
  readonly #row: number | undefined
  #services: readonly Service[] = []
  #limited: ReadonlyMap<string, LimitedService> = new Map()
  #link: Link | undefined

  constructor(init: WorkerInit, hosted: readonly Service[], metering: Metering) {
    const { table, row } = metering
    this.#init = init
    this.#metering = metering
    this.#row = init.kind === 'process' ? undefined : row
    this.update(init.app.services)
    this.gates = new Map(
      hosted.filter(isLimited).map(({ name, queue, concurrency }) => {
        const slots = table.slots(name)!
        const board: RunningCallsBoard = {
          setDeadline: (at) => slots.setDue(row, at),
          setRunning: (slot, call) => slots.setInside(row, slot, call),
        }
        const freeAbandoned = (): void => slots.freeAbandoned(row)
        const parts = {
          service: name,
          concurrency: concurrency!,
          queue,
          cells: metering.of(name),
          freeAbandoned,
          board,
        }
        return [name, new ConcurrencyGate(parts)]
      }),
    )
  }

  /** For calls to them. Empty in a process, which cannot read their load in shared memory. */
  get limited(): ReadonlyMap<string, LimitedService> {
    return this.#limited
  }

  /**
   * The app's services are others from now on. Calls that wait keep waiting under the old limit.
   */
  update(services: readonly Service[]): void {
    const before = new Map(this.#services.map((service) => [service.name, limitsOf(service)]))
    this.#services = services
    if (this.#init.kind === 'process') return
    const { table, row } = this.#metering
    this.#limited = new Map(
      services.filter(isLimited).map((service) => {
        const { name, queue, run } = service
        const known = before.get(name) === limitsOf(service) ? this.#limited.get(name) : undefined
        const parts = { service: name, table, row, queue, inThreads: run !== 'process' }
        return [name, known ?? new LimitedService(parts)]
      }),
    )
  }

  /**
   * True if a call to `service` that this worker abandons must be reported to the supervisor,
   * because shared memory does not show it. Byte streams take no slots.
   */
  mustReportAbandoned(service: string, kind: CallHead['kind']): boolean {
    if (kind === 'event' || (this.#init.kind !== 'process' && kind !== 'bytes')) return false
    return this.#services.some((one) => one.name === service && isLimited(one))
  }

  /** `answer` answers calls that arrive by link, behind the gates. */
  open(answer: CallHandler): void {
    if (this.gates.size > 0) this.#link = loopbackLink(this.#init.worker, answer)
  }

  /**
   * The endpoint by which this thread calls its own instance of a limited service: by link, since a
   * plain function call could not wait for its turn. Undefined without a limit.
   */
  endpointByLink(local: LocalEndpoint, { kind }: Service, index: number): RemoteEndpoint | undefined {
    if (!this.gates.has(local.service)) return undefined
    return {
      at: 'link',
      service: local.service,
      worker: this.#init.worker,
      index,
      get state() {
        return local.state
      },
      link: this.#link!,
      transport: 'local',
      get path() {
        return local.listener?.path
      },
      typed: kind === 'typed',
      row: this.#row,
    }
  }

  /** For the handlers of events: they run in the place of calls. Undefined without a limit. */
  eventAdmission({ name, concurrency }: Service): EventAdmission | undefined {
    const gate = this.gates.get(name)
    if (gate === undefined) return undefined
    const leave = (): void => gate.leave()
    const enter = async (): Promise<() => void> => {
      // While the queue of the calls is full, events wait longer.
      while (!(await gate.enter(undefined, new AbortController().signal).then(isTrue, isFalse)))
        await sleep(retryInterval)
      return leave
    }
    return { concurrency: concurrency!, enter }
  }

  close(): void {
    this.#link?.close({ code: 'SERVICE_UNAVAILABLE', message: `worker ${this.#init.slot} has stopped` })
  }
}

/** Milliseconds. */
const retryInterval = 50
const isTrue = (): boolean => true
const isFalse = (): boolean => false

function isLimited({ concurrency }: Service): boolean {
  return concurrency !== undefined
}

/** What a {@link LimitedService} depends on, to compare. */
function limitsOf({ concurrency, queue, run }: Service): string {
  return `${concurrency} ${queue} ${run === 'process'}`
}
