import { randomBytes } from 'node:crypto'
import type { ResourceLimits } from 'node:worker_threads'
import type { Socket } from 'node:net'
import type { App, Service } from '../config/app.ts'
import type { ErrorRecord } from '../contract/errors.ts'
import { Ledger } from '../observe/ledger.ts'
import type { CallAccess } from '../shared/call-access.ts'
import { createCells, WorkerCells } from '../shared/cells.ts'
import type { ListenerSpec, TlsMaterial } from '../shared/control.ts'
import { InstanceTable } from '../shared/instances.ts'
import { OutputWindow } from '../shared/output-window.ts'
import { commandEnvironment } from './vessels/command-environment.ts'
import { CommandVessel } from './vessels/command.ts'
import { DoubleVessel } from './vessels/double.ts'
import { Guard } from './vessels/guard.ts'
import { GivenUpCalls } from './given-up.ts'
import { type GivenUpCall, labelOf, WorkerHandle } from './handle.ts'
import { type Acquaintance, Introductions, type Reach } from './introductions.ts'
import { needsMet } from './needs.ts'
import { mayBeEnded, type Place } from './plan.ts'
import { OutputScheduler } from './vessels/output-scheduler.ts'
import { ProcessVessel } from './vessels/process.ts'
import { Relinks } from './relinks.ts'
import type { StartOptions, WorkerExit } from './running.ts'
import { defaultAccelerators, acceleratorsText, type AcceleratorState } from '../shared/accelerators.ts'
import { SocketFolder } from './admin/socket-folder.ts'
import { StopOrder } from './stop-order.ts'
import { ThreadVessel } from './vessels/thread.ts'
import type { Timing } from './timing.ts'
import type { Launch } from './vessels/vessel.ts'

/**
 * Rows that a place needs in the shared memory: its worker's, and that of the one that takes over from it. As long as one
 * drains behind its successor there is none for a spare.
 */
export const rowsPerPlace = 2

export interface LauncherParts {
  readonly app: App
  /** The limit of this process's descriptors. */
  readonly descriptors: number
  readonly places: readonly Place[]
  readonly options: StartOptions
  readonly timing: Timing
  readonly listeners: () => readonly ListenerSpec[]
  readonly tls: () => TlsMaterial | undefined
  readonly calls: () => CallAccess
  /** Gets a connection again that a worker died with before it had taken it. */
  readonly returned: (listener: string, socket: Socket) => void
}

/** Starts workers of every kind, and sees to it that the others know them and that none is left behind. */
export class Launcher {
  readonly introductions: Introductions
  /** Of all workers: heartbeats and the like, calls and the like. */
  readonly cells: SharedArrayBuffer
  readonly instances: InstanceTable
  /** What all workers did, those that are gone too. */
  readonly ledger: Ledger
  /** Calls that may be computed for nobody. */
  readonly givenUp = new GivenUpCalls()
  readonly #parts: LauncherParts
  readonly #secret = randomBytes(24).toString('base64url')
  /** All workers whose end has not been seen. */
  readonly #alive = new Set<WorkerHandle>()
  readonly #folder: SocketFolder
  readonly #guard: Guard
  readonly #scheduler: OutputScheduler
  /** As the first worker found them. */
  accelerators: readonly AcceleratorState[] | undefined
  #stopOrder: StopOrder | undefined
  #next = 0

  constructor(parts: LauncherParts) {
    this.#parts = parts
    const { timing, options } = parts
    this.introductions = new Introductions(
      new Relinks(timing, (level, line) =>
        options.log({ time: Date.now(), level, service: undefined, stream: 'busbar', line, worker: undefined }),
      ),
    )
    const rows = parts.places.length * rowsPerPlace
    this.cells = createCells(rows)
    this.instances = new InstanceTable({ rows, services: parts.app.services })
    this.ledger = new Ledger(this.instances)
    this.#scheduler = new OutputScheduler(options.isLogBehind)
    this.#folder = new SocketFolder(this.#secret)
    this.#guard = new Guard(this.#folder.path)
  }

  /** Workers that could not be ended. */
  get hung(): number {
    return [...this.#alive].filter(({ phase }) => phase === 'ended').length
  }

  /** `isHeld`: nobody calls it before it is announced. */
  launch(place: Place, row: number, app: App, isHeld: boolean): WorkerHandle {
    const worker = this.#next++
    this.ledger.assign(row, { place: place.place })
    const { timing, options, returned } = this.#parts
    let reach: Reach = place.kind === 'process' ? this.#socketOf(worker) : { by: 'thread' }
    const handle: WorkerHandle = new WorkerHandle({
      app,
      place,
      worker,
      row,
      timing,
      log: options.log,
      launch: this.#launchOf(place, worker, row, app, (address) => {
        reach = { by: 'tcp', ...address }
        this.#enter(handle, reach, isHeld)
      }),
      linkable: () => this.#enter(handle, reach, isHeld),
      serves: (_, service, path) => {
        // Not before: whoever has not heard that the row's last worker ended would take what is free there.
        this.instances.freeGivenUp(row)
        const spec = place.hosts.find(({ name }) => name === service)
        // A program that forges its worker's word leads the others to none but its own sockets.
        const own = path?.startsWith(this.#folder.socketOf(worker)) === true ? path : undefined
        if (spec !== undefined) this.introductions.serves(worker, { ...spec, path: own })
      },
      accelerators: (states) => this.#tellAccelerators(states),
      unlinked: (lost) => this.introductions.unlinked(worker, lost),
      left: (peer) => this.introductions.left(worker, peer),
      gaveUp: (call) => this.#gaveUp(call),
      ending: (_, exit) => this.introductions.remove(worker, reasonOf(place, exit)),
      closed: (_, service) => this.#stopOrder?.closed(worker, service),
      returned,
    })
    this.#alive.add(handle)
    void handle.ended.then((exit) => {
      this.introductions.remove(worker, reasonOf(place, exit))
      this.givenUp.forget(worker)
      this.#stopOrder?.ended(worker)
      this.ledger.retire(row)
    })
    void handle.gone.then(() => this.#alive.delete(handle))
    if (reach.by === 'thread' && place.kind !== 'command') this.#enter(handle, reach, isHeld)
    return handle
  }

  /** From now on the workers that are told to stop know when each of their services may. */
  stopInOrder(app: App): void {
    const workers = [...this.#alive].filter(({ phase }) => phase === 'serving' || phase === 'draining')
    this.#stopOrder = new StopOrder(app, workers, (service) => {
      for (const worker of workers) worker.tell({ type: 'released', service })
    })
  }

  /** When no worker is left. */
  async close(): Promise<void> {
    await this.#guard.close()
    this.#folder.remove()
  }

  /** All workers run in the same Node: what the first says is true of all. */
  #tellAccelerators(states: readonly AcceleratorState[]): void {
    if (this.accelerators !== undefined) return
    this.accelerators = states
    const failed = states.some(
      ({ on, name }) => !on && (this.#parts.app.accelerators ?? defaultAccelerators).includes(name),
    )
    const line = `accelerators ${acceleratorsText(states)}`
    const level = failed ? 'warn' : 'info'
    this.#parts.options.log({ time: Date.now(), level, service: undefined, stream: 'busbar', line, worker: undefined })
  }

  #gaveUp(call: GivenUpCall): void {
    const callee = [...this.#alive].find(({ worker }) => worker === call.peer)
    if (callee !== undefined && mayBeEnded(callee.place, this.#parts.app.services)) this.givenUp.add(call)
  }

  #enter(handle: WorkerHandle, reach: Reach, isHeld: boolean): void {
    const { worker, row, place } = handle
    const label = labelOf(place)
    const tell: Acquaintance['tell'] = (order, transfer) => handle.tell(order, transfer)
    this.introductions.enter({ worker, row, reach, label, tell }, isHeld)
  }

  #launchOf(
    place: Place,
    worker: number,
    row: number,
    app: App,
    answers: (address: { host: string; port: number }) => void,
  ): Launch {
    const { options } = this.#parts
    const scheduler = this.#scheduler
    const common = {
      app,
      worker,
      place: place.place,
      hosts: place.hosts,
      secret: this.#secret,
      sockets: this.#folder.socketOf(worker),
      listeners: this.#parts.listeners(),
      tls: this.#parts.tls(),
      calls: this.#parts.calls(),
      mode: options.mode,
    }
    const service = app.services.find(({ name }) => name === place.hosts[0]?.name)
    switch (place.kind) {
      case 'shared':
      case 'thread': {
        const { kind } = place
        const { memory: output } = new OutputWindow()
        const shared = { cells: this.cells, row, instances: this.instances.memory, output }
        const { descriptors } = this.#parts
        const init = { ...common, kind, descriptors, ...shared, listenAt: undefined }
        const resourceLimits = limitsOf(place, options.resourceLimits)
        const name = `busbar ${place.name}`
        const parts = { init, name, entry: options.workerEntry, resourceLimits, scheduler }
        return (events) => new ThreadVessel(parts, events)
      }
      case 'process': {
        const nothing = { cells: undefined, row: undefined, instances: undefined, output: undefined }
        const listenAt = this.#socketOf(worker).path
        const init = { ...common, app: withoutFlags(app, service!), kind: 'process', ...nothing, listenAt } as const
        const cells = new WorkerCells(this.cells, row)
        const counts = this.instances.at(row, service!.name)
        const own = { cells, block: this.instances.block(row), counts, guard: this.#guard, scheduler }
        return (events) => new ProcessVessel({ init, service: service!, ...own }, events)
      }
      case 'command': {
        const open = options.doubles?.get(service!.name)
        if (open !== undefined) return (events) => new DoubleVessel({ service: service!, app, open, answers }, events)
        const until: Introductions['until'] = (name, limit) => this.introductions.until(name, limit)
        const needed = needsMet(service!, app.services, until)
        const names = app.services.map(({ name }) => name)
        const environment = (port: number): NodeJS.ProcessEnv =>
          commandEnvironment({ service: service!, names, calls: common.calls, port })
        const parts = { service: service!, environment, needed, guard: this.#guard, scheduler, answers }
        return (events) => new CommandVessel(parts, events)
      }
    }
  }

  #socketOf(worker: number): { readonly by: 'unix'; readonly path: string } {
    return { by: 'unix', path: this.#folder.socketOf(worker) }
  }
}

/** A process gets the flags of its `scripts.start` from Node itself, and not once more from the host. */
function withoutFlags(app: App, service: Service): App {
  const plain = { ...service, entry: { ...service.entry, nodeOptions: [] } }
  return { ...app, services: app.services.map((one) => (one === service ? plain : one)) }
}

function limitsOf({ memory }: Place, limits: ResourceLimits | undefined): ResourceLimits | undefined {
  return memory === undefined ? limits : { ...limits, maxOldGenerationSizeMb: Math.floor(memory / 1024 ** 2) }
}

function reasonOf(place: Place, { why, text, service }: WorkerExit): ErrorRecord {
  const code = why === 'stop' ? 'SERVICE_UNAVAILABLE' : 'WORKER_DIED'
  return { code, message: `worker ${labelOf(place)} ended: ${text}`, ...(service !== undefined && { service }) }
}
