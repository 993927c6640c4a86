import type { ResourceLimits } from 'node:worker_threads'
import type { Address, App, Service } from '../../config/app.ts'
import type { CallAccess } from '../../shared/calls/call-access.ts'
import type { AcceleratorState } from '../../shared/accelerators.ts'
import { WorkerCells } from '../../shared/metrics/worker-cells.ts'
import type { ListenerSpec, TlsMaterial } from '../../shared/control-messages.ts'
import type { EntranceAccess } from '../../shared/entrance/entrance.ts'
import type { InstanceTable } from '../../shared/metrics/instance-table.ts'
import { OutputWindow } from '../../shared/output/output-window.ts'
import type { AppUse } from '../../shared/calls/app-use.ts'
import { localPortsOf } from '../../shared/calls/local-ports.ts'
import { callableNames, type Identity } from '../../shared/hosts.ts'
import { needsMet } from '../needs.ts'
import type { SocketFolder } from '../peers/socket-folder.ts'
import type { Pulse } from '../pulse.ts'
import type { SlotSpec } from '../plan.ts'
import type { StartOptions } from '../running-app.ts'
import { commandEnvironment, CommandRuntime } from './command.ts'
import { hasOwnNode } from './node-flags.ts'
import type { OrphanReaper } from './orphan-reaper.ts'
import { OutputScheduler } from './output/output-scheduler.ts'
import { ProcessRuntime } from './process.ts'
import type { StartRuntime } from './runtime.ts'
import { TestDoubleRuntime } from './test-double.ts'
import { ThreadRuntime } from './thread.ts'

export interface RuntimeFactoryParts {
  readonly options: StartOptions
  /** The file descriptor limit of this process. */
  readonly descriptors: number
  /** The secret of the app, which a link's hello must contain. */
  readonly secret: string
  readonly folder: SocketFolder
  readonly reaper: OrphanReaper
  readonly pulse: Pulse
  readonly cells: SharedArrayBuffer
  readonly instances: InstanceTable
  readonly appUse: AppUse
  readonly listeners: () => readonly ListenerSpec[]
  readonly tls: () => TlsMaterial | undefined
  readonly identity: () => Identity | undefined
  readonly entrance: () => EntranceAccess | undefined
  readonly calls: () => CallAccess
  readonly probed: () => readonly AcceleratorState[]
  /** Resolves to true when an instance of `service` serves, to false after `limit` milliseconds. */
  readonly untilServed: (service: string, limit: number) => Promise<boolean>
}

/** A worker that is about to start. */
export interface WorkerStart {
  readonly spec: SlotSpec
  readonly worker: number
  readonly row: number
  readonly app: App
  /** It serves nobody before it is announced. */
  readonly isHeld: boolean
  /** Called with the address of a command or test double, just before it serves. */
  readonly answers: (address: Address) => void
}

/** Creates the runtime of a worker: a thread, a process, a command or a test double. */
export class RuntimeFactory {
  readonly #parts: RuntimeFactoryParts
  readonly #scheduler: OutputScheduler

  constructor(parts: RuntimeFactoryParts) {
    this.#parts = parts
    this.#scheduler = new OutputScheduler(parts.options.isLogBehind)
  }

  create(start: WorkerStart): StartRuntime {
    const { spec, app } = start
    if (spec.kind === 'shared' || spec.kind === 'thread') return this.#thread(start, spec.kind)
    const service = app.services.find(({ name }) => name === spec.hosts[0]!.name)!
    if (spec.kind === 'process') return this.#process(start, service)
    const open = this.#parts.options.doubles?.get(service.name)
    if (open === undefined) return this.#command(start, service)
    return (events) => new TestDoubleRuntime({ service, app, open, answers: start.answers }, events)
  }

  #thread(start: WorkerStart, kind: 'shared' | 'thread'): StartRuntime {
    const { options, descriptors, cells, instances, appUse, probed } = this.#parts
    const { memory: output } = new OutputWindow()
    const memory = { cells, row: start.row, instances: instances.memory, appUse: appUse.memory, output }
    const own = { kind, descriptors, shape: instances.shape, probed: probed(), listenAt: undefined }
    const init = { ...this.#common(start), ...own, ...memory }
    const resourceLimits = limitsOf(start.spec, options.resourceLimits)
    const name = `busbar ${start.spec.name}`
    const { hosts } = start.spec
    const service = kind === 'thread' && hosts.length === 1 ? hosts[0]!.name : undefined
    const parts = { init, name, service, entry: options.workerEntry, resourceLimits, scheduler: this.#scheduler }
    return (events) => new ThreadRuntime(parts, events)
  }

  #process(start: WorkerStart, service: Service): StartRuntime {
    const { folder, reaper, instances, pulse } = this.#parts
    const { row, worker } = start
    const noMemory = { cells: undefined, row: undefined, instances: undefined, output: undefined }
    const probed = hasOwnNode(service) ? undefined : this.#parts.probed()
    const app = withoutFlags(start.app, service)
    const listenAt = folder.socketOf(worker)
    const { services, places } = instances.shape
    const shape = { rows: 1, services: services.map(({ name, concurrency }) => ({ name, concurrency })), places }
    const init = { ...this.#common(start), app, kind: 'process', shape, ...noMemory, probed, listenAt } as const
    const cells = new WorkerCells(this.#parts.cells, row)
    const counts = instances.at(row, service.name)
    const memory = { cells, block: instances.block(row), counts }
    const parts = { init, service, ...memory, reaper, scheduler: this.#scheduler, pulse }
    return (events) => new ProcessRuntime(parts, events)
  }

  #command({ app, answers }: WorkerStart, service: Service): StartRuntime {
    const { reaper, calls, untilServed } = this.#parts
    const needed = needsMet(service, app.services, untilServed)
    const names = callableNames(app)
    const localPorts = localPortsOf(app.services)
    const access = calls()
    const environment = (port: number): NodeJS.ProcessEnv =>
      commandEnvironment({ service, names, localPorts, calls: access, port })
    const parts = { service, environment, needed, reaper, scheduler: this.#scheduler, answers }
    return (events) => new CommandRuntime(parts, events)
  }

  /** What workers of all kinds but commands are given. */
  #common({ spec, worker, app, isHeld }: WorkerStart) {
    const { secret, folder, listeners, tls, identity, entrance, calls, options } = this.#parts
    return {
      app,
      worker,
      slot: spec.index,
      hosts: spec.hosts,
      secret,
      sockets: folder.socketOf(worker),
      listeners: listeners(),
      tls: tls(),
      identity: identity(),
      entrance: entrance(),
      isHeld,
      calls: calls(),
      inspect: inspectorPort(spec, options.inspect),
      mode: options.mode,
    }
  }
}

/** The first is the one at which debuggers look. Undefined for a worker that is not inspected. */
const firstInspectorPort = 9229

function inspectorPort({ index, hosts }: SlotSpec, inspect: StartOptions['inspect']): number | undefined {
  if (inspect === undefined || hosts.length === 0) return undefined
  const isInspected = inspect.service === undefined || hosts.some(({ name }) => name === inspect.service)
  return isInspected ? firstInspectorPort + index : undefined
}

/**
 * Node itself applies the flags of `scripts.start` to the process: the worker must not apply them
 * again.
 */
function withoutFlags(app: App, service: Service): App {
  const plain = { ...service, entry: { ...service.entry, nodeOptions: [] } }
  return { ...app, services: app.services.map((one) => (one === service ? plain : one)) }
}

/**
 * Megabytes for the young generation of a thread with a memory limit: three times the 16 MB that
 * can hold objects between two collections. When a thread reaches its limit, Node allows V8 16 MB
 * more until the thread ends. A collection that moves more than that to the old generation ends the
 * whole process (docs/decisions/run/thread-memory.md).
 */
const youngGeneration = 48

function limitsOf({ memory }: SlotSpec, limits: ResourceLimits | undefined): ResourceLimits | undefined {
  if (memory === undefined) return limits
  const maxOldGenerationSizeMb = Math.floor(memory / 1024 ** 2)
  return { maxYoungGenerationSizeMb: youngGeneration, ...limits, maxOldGenerationSizeMb }
}
