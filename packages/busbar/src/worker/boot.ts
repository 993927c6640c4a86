import type { Socket } from 'node:net'
import { isRawEntry } from '../config/gateway/raw-entry.ts'
import { BusbarError, type ErrorRecord } from '../contract/errors.ts'
import type { Service } from '../config/app.ts'
import { createGateway, type Gateway } from '../gateway/gateway.ts'
import { answerAll } from '../mesh/answer.ts'
import { gatedAnswers } from '../mesh/balance/gated-answers.ts'
import { startMesh } from '../mesh/mesh.ts'
import { CallRelay } from '../mesh/relay/relay.ts'
import { Peers, type PeersOptions } from '../mesh/peers.ts'
import { offerTypedCalls } from '../mesh/typed/transport.ts'
import { Router } from '../mesh/router.ts'
import type { WorkerCells } from '../shared/cells.ts'
import type {
  ListenerSpec,
  LogRecord,
  Order,
  PeerSpec,
  ServiceReport,
  StopTimes,
  TlsMaterial,
  WorkerInit,
} from '../shared/control.ts'
import { defaultAccelerators } from '../shared/accelerators.ts'
import { needsUnmet, notServedIn, timeToServe } from '../shared/needs.ts'
import { within } from '../shared/within.ts'
import { type Attachments, startAccelerators } from './accelerators.ts'
import { type Door, Doors } from './doors.ts'
import { drain, Releases } from './drain.ts'
import { takeHeadsOfGateway } from './head-limits.ts'
import { type HostedProgram, hostProgram } from './host/host.ts'
import { type Fault, type Hosting, installHosting } from './host/install.ts'
import { PipedOutput } from './host/piped-output.ts'
import { ConcurrencyLimits } from './limits.ts'
import { startInOrder } from './order.ts'
import { OwnPorts } from './own-ports.ts'
import type { Metering } from './metering.ts'
import { Neighbours } from './neighbours.ts'
import type { Outbox } from './outbox.ts'
import type { hostTyped } from './typed/host.ts'

/** What the worker has before its app. */
export interface WorkerParts {
  readonly cells: WorkerCells
  readonly metering: Metering
  readonly outbox: Outbox
}

/** Makes this thread or process one that can host services: what they take for Node, and the mesh. Once. */
export async function prepareWorker(init: WorkerInit, parts: WorkerParts): Promise<WorkerApp> {
  const { app, hosts } = init
  const { metering, outbox } = parts
  // Its one service has the pipes for itself.
  const output = init.kind === 'process' ? new PipedOutput() : undefined
  const { validate } = app
  const { maxHops } = app.limits
  const services = app.services.filter(({ name }) => hosts.some((host) => host.name === name))
  // Before anything is patched. A worker of programs alone begins 40 ms earlier without it, and what it brings of JSON schemas.
  const typed = services.some(({ kind }) => kind === 'typed') ? await import('./typed/host.ts') : undefined
  const limits = new ConcurrencyLimits(init, services, metering)
  const names = app.services.map(({ name }) => name)
  const router = new Router(names, metering.loads, limits.limited)
  let worker: WorkerApp | undefined
  const fault = (fault: Fault): void => {
    outbox.post(fault)
    worker?.fail(BusbarError.fromRecord({ ...fault.error, code: 'WORKER_DIED' }))
  }
  const log = (record: LogRecord): void => outbox.log(record)
  const { states, attachments } = await startAccelerators(app.accelerators ?? defaultAccelerators)
  outbox.post({ type: 'accelerators', states })
  const paths = privatePaths(init.sockets)
  const hosting = installHosting({ app, services, calls: init.calls, output, log, fault, paths })
  const { exchange: exchanges, stream: streams } = attachments
  const mesh = { router, maxHops, validate, meter: metering.meter, gates: limits.gates, exchanges, streams }
  await startMesh(mesh)
  const relay = new CallRelay(mesh, init.calls)
  offerTypedCalls(mesh)
  const answer = gatedAnswers(limits.gates, answerAll(mesh))
  limits.open(answer)
  const { worker: number, secret, listenAt } = init
  const loadOf = init.kind === 'process' ? (service: string) => metering.of(service).inFlight : undefined
  const unlinked = ({ worker: peer, link }: PeerSpec, reason: ErrorRecord): void =>
    outbox.post({ type: 'unlinked', peer, link, reason })
  const left = (peer: number): void => outbox.post({ type: 'left', peer })
  const gaveUp: PeersOptions['gaveUp'] = (peer, { service, kind }, call) => {
    if (limits.isUnseen(service, kind)) outbox.post({ type: 'gaveUp', peer, service, call })
  }
  const peers = new Peers({ worker: number, secret, listenAt, router, answer, loadOf, unlinked, left, gaveUp })
  await peers.listen()
  if (init.listenAt !== undefined) outbox.post({ type: 'listening' })
  const neighbours = new Neighbours(peers)
  worker = new WorkerApp({
    ...parts,
    init,
    services,
    router,
    hosting,
    neighbours,
    peers,
    limits,
    relay,
    attachments,
    ...typed,
  })
  return worker
}

/** Each server that listens has one of its own. */
function privatePaths(prefix: string): () => string {
  let next = 0
  return () => `${prefix}-${next++}`
}

interface AppParts extends WorkerParts {
  readonly init: WorkerInit
  /** Those that it hosts. */
  readonly services: readonly Service[]
  readonly router: Router
  readonly hosting: Hosting
  readonly neighbours: Neighbours
  readonly peers: Peers
  readonly limits: ConcurrencyLimits
  readonly relay: CallRelay
  readonly attachments: Attachments
  /** Where it hosts any. */
  readonly hostTyped?: typeof hostTyped
}

type StopOrder = Extract<Order, { type: 'stop' }>

/** The part of the app that this worker hosts. */
export class WorkerApp {
  readonly neighbours: Neighbours
  readonly #parts: AppParts
  #programs: ReadonlyMap<string, HostedProgram> = new Map()
  #gateway: Gateway | undefined
  #doors: Doors | undefined
  /** Open as long as the worker is: services that start may be called, and those that stop may call. */
  readonly #callDoors: Doors
  #ports: OwnPorts | undefined
  #tls: TlsMaterial | undefined
  readonly #releases = new Releases()
  #stopping: Promise<void> | undefined

  constructor(parts: AppParts) {
    this.#parts = parts
    this.neighbours = parts.neighbours
    this.#tls = parts.init.tls
    this.#callDoors = new Doors(parts.relay.listeners, parts.cells)
  }

  /** Rejects with the error of the first service that does not start. */
  async start(): Promise<ServiceReport[]> {
    const { init, services, cells, neighbours, attachments } = this.#parts
    this.#programs = await startInOrder(
      services,
      (service) => this.#host(service),
      (needed, by) => this.#needed(needed, by, neighbours),
    )
    if (init.kind === 'shared' && !isRawEntry(init.app)) this.#gateway = this.#openGateway()
    this.#doors = new Doors(this.#openDoors(), cells, attachments['batch-writes'])
    if (init.app.accept === 'reusePort') this.#ports = await this.#openPorts(this.#doors)
    return services.map(({ name }) => this.#programs.get(name)!.report)
  }

  async #openPorts(doors: Doors): Promise<OwnPorts> {
    const { app, listeners } = this.#parts.init
    const own = listeners.filter(({ id }) => doors.has(id))
    return await OwnPorts.open({ app, listeners: own, doors, isTls: (spec) => this.#isTls(spec) })
  }

  #isTls({ serves }: ListenerSpec): boolean {
    const { app } = this.#parts.init
    if (serves.kind === 'gateway' && !isRawEntry(app)) return this.#tls !== undefined
    const service = serves.kind === 'service' ? serves.service : app.gateway.entry
    return this.#programs.get(service!)?.report.tls === true
  }

  async #needed(needed: string, by: Service, neighbours: Neighbours): Promise<void> {
    const limit = timeToServe(by, this.#parts.init.app.services)
    if (await neighbours.until(needed, limit)) return
    throw BusbarError.fromRecord(needsUnmet(by.name, needed, notServedIn(limit)))
  }

  admit(listener: string, socket: Socket): void {
    const doors = this.#callDoors.has(listener) ? this.#callDoors : this.#doors
    if (doors === undefined) socket.destroy()
    else doors.admit(listener, socket)
  }

  setTls(tls: TlsMaterial): void {
    this.#tls = tls
    this.#gateway?.setTls(tls)
  }

  /** The thread ends: whoever waits for it learns why. */
  fail(error: BusbarError): void {
    this.#gateway?.fail(error)
  }

  /** The service may stop: nobody who needs it runs any more. */
  release(service: string): void {
    this.#releases.set(service)
  }

  /** Finishes what is in flight and stops the services in time. The second call is the first. */
  stop(order: StopOrder): Promise<void> {
    this.#stopping ??= this.#stop(order)
    return this.#stopping
  }

  /** The links last: what is in flight may still call others, and is answered over them. */
  async #stop({ timeout, quiet, inOrder }: StopOrder): Promise<void> {
    const { init, services, peers, limits, metering, outbox } = this.#parts
    const deadline = performance.now() + timeout
    await drain({
      services,
      all: init.app.services,
      programs: this.#programs,
      gateway: this.#gateway,
      ports: this.#ports?.ports ?? [],
      timeout,
      quiet,
      released: async (service) => (inOrder ? await this.#releases.until(service) : undefined),
      draining: (service) => void (metering.of(service).state = 'draining'),
      closed: (service) => outbox.post({ type: 'closed', service }),
    })
    await this.#stopRelay({ timeout: deadline - performance.now(), quiet }, inOrder)
    limits.close()
    this.#ports?.cut()
    await peers.close({ code: 'SERVICE_UNAVAILABLE', message: `worker ${init.place} has stopped` })
  }

  /** Where all of the app stops, not before everybody has stopped who needs a service: a command may call while it stops. */
  async #stopRelay({ timeout, quiet }: StopTimes, inOrder: boolean): Promise<void> {
    const { init, relay } = this.#parts
    const deadline = performance.now() + timeout
    const released = init.app.services.map(({ name }) => this.#releases.until(name))
    if (inOrder && (init.kind === 'shared' || relay.isBusy))
      await within(Math.max(0, timeout / 2), [Promise.all(released)])
    const left = Math.max(0, deadline - performance.now())
    // Those who call go on calling where only this worker is replaced.
    await relay.stop({ timeout: left, quiet: inOrder ? quiet : Math.max(quiet, left / 2) })
  }

  async #host(service: Service): Promise<HostedProgram> {
    const { init, router, hosting, metering, outbox, limits: concurrency, hostTyped } = this.#parts
    const { limits, gateway, interceptors } = init.app
    const own = metering.of(service.name)
    own.state = 'starting'
    outbox.post({ type: 'starting', service: service.name })
    const all = { ...hosting, metering }
    const typed = { ...all, limits, interceptors, cors: gateway.cors ?? [], development: init.mode === 'dev' }
    const program = await (service.kind === 'typed' ? hostTyped!(service, typed) : hostProgram(service, all))
    if (!isRawEntry(init.app)) takeHeadsOfGateway(program.server, limits)
    const { index } = init.hosts.find(({ name }) => name === service.name)!
    router.add(program, index, concurrency.byLink(program, service, index))
    own.state = 'serving'
    outbox.post({ type: 'started', service: service.name, path: program.listener?.path })
    return program
  }

  #openGateway(): Gateway {
    const { init, router, cells, metering, outbox, attachments } = this.#parts
    const { exchange: exchanges, stream: streams, handover } = attachments
    const log: Parameters<typeof createGateway>[0]['log'] = (level, line) =>
      outbox.log({ time: Date.now(), level, service: undefined, stream: 'busbar', line })
    // Closed connections are counted at the door, for services that are reached without the gateway too.
    const counts = { addInFlight: (by: 1 | -1) => cells.addInFlight(by), countClosed: () => {} }
    return createGateway({
      app: init.app,
      router,
      tls: this.#tls,
      log,
      cells: counts,
      meter: metering.meter,
      exchanges,
      handover,
      streams,
    })
  }

  /** Which door each public port leads to, of those that lead here. */
  #openDoors(): Map<string, Door> {
    const { listeners, app } = this.#parts.init
    return new Map(
      listeners.flatMap(({ id, port, serves }): [string, Door][] => {
        const service = serves.kind === 'service' ? serves.service : app.gateway.entry
        const program = serves.kind === 'gateway' && !isRawEntry(app) ? undefined : this.#programs.get(service!)
        const door = serves.kind === 'service' ? program?.door(port) : (program ?? this.#gateway)
        return door === undefined ? [] : [[id, door]]
      }),
    )
  }
}
