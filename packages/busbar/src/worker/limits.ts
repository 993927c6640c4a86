import type { Service } from '../config/app.ts'
import { type Board, Gate } from '../mesh/balance/gate.ts'
import { LimitedService } from '../mesh/balance/limited-service.ts'
import type { LocalEndpoint, RemoteEndpoint } from '../mesh/endpoint.ts'
import type { Answerer, CallHead, Link } from '../mesh/links/link.ts'
import { linkToSelf } from '../mesh/links/to-self.ts'
import type { WorkerInit } from '../shared/control.ts'
import type { Metering } from './metering.ts'

/** The services that answer only so many calls at a time, as this worker calls and hosts them. */
export class ConcurrencyLimits {
  /** As it calls them; none in a process, which does not see how many they answer. */
  readonly limited: ReadonlyMap<string, LimitedService>
  /** Before those that it hosts. */
  readonly gates: ReadonlyMap<string, Gate>
  readonly #init: WorkerInit
  readonly #row: number | undefined
  #link: Link | undefined

  constructor(init: WorkerInit, hosted: readonly Service[], metering: Metering) {
    const { table, row } = metering
    const isLimited = ({ concurrency }: Service): boolean => concurrency !== undefined
    const called = init.kind === 'process' ? [] : init.app.services.filter(isLimited)
    this.#init = init
    this.#row = init.kind === 'process' ? undefined : row
    this.limited = new Map(
      called.map(({ name, queue, run }) => {
        const parts = { service: name, table, row, queue, inThreads: run !== 'process' }
        return [name, new LimitedService(parts)]
      }),
    )
    this.gates = new Map(
      hosted.filter(isLimited).map(({ name, queue, concurrency }) => {
        const slots = table.slots(name)!
        const board: Board = {
          setDue: (at) => slots.setDue(row, at),
          setInside: (place, call) => slots.setInside(row, place, call),
        }
        const freeGivenUp = (): void => slots.freeGivenUp(row)
        const parts = { service: name, concurrency: concurrency!, queue, cells: metering.of(name), freeGivenUp, board }
        return [name, new Gate(parts)]
      }),
    )
  }

  /** A call of this worker's to `service` that it gives up: whether nothing in shared memory says so. Connections take no slots. */
  isUnseen(service: string, kind: CallHead['kind']): boolean {
    const { kind: own, app } = this.#init
    if (own !== 'process' && kind !== 'bytes') return false
    return app.services.some(({ name, concurrency }) => name === service && concurrency !== undefined)
  }

  /** `answer` answers what comes by links, gates and all. */
  open(answer: Answerer): void {
    if (this.gates.size > 0) this.#link = linkToSelf(this.#init.worker, answer)
  }

  /** How an instance in this thread is called even from here, where it has a limit: a function call could not wait. */
  byLink(local: LocalEndpoint, { kind }: Service, index: number): RemoteEndpoint | undefined {
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
      typed: kind === 'typed',
      row: this.#row,
    }
  }

  close(): void {
    this.#link?.close({ code: 'SERVICE_UNAVAILABLE', message: `worker ${this.#init.place} has stopped` })
  }
}
