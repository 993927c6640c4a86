import { type App, isRawEntry, type Service } from '../../config/app.ts'
import { isInternal } from '../../config/cluster/queues.ts'
import { localPortsOf } from '../../shared/calls/local-ports.ts'
import { mostHeadOf } from '../accept/gateway-entrance.ts'
import { callRoutesOf, planApp, type SlotSpec } from '../plan.ts'
import type { Outdated } from './changes.ts'

/** How the slots of the next generation differ from those that run. */
export interface Difference {
  /** The slots of the next plan, with the index under which they run or will run. */
  readonly slots: readonly SlotChange[]
  /** Slots of the running plan that the next one does not have. */
  readonly removed: readonly SlotSpec[]
}

export interface SlotChange {
  readonly is: 'kept' | 'replaced' | 'added'
  readonly spec: SlotSpec
}

/**
 * Compares by position. A worker stays if nothing that it depends on has changed. `running`: the
 * slots as they are, in any state.
 */
export function differenceOf(from: App, to: App, running: readonly SlotSpec[], outdated: Outdated): Difference {
  const next = planApp(to).slots
  const isOutdated = changesOf(from, to, outdated)
  const taken = new Set(running.map(({ index }) => index))
  const slots = next.map((planned): SlotChange => {
    const before = running.find(({ position }) => position === planned.position)
    if (before === undefined) return { is: 'added', spec: { ...planned, index: takeIndex(taken) } }
    const spec = { ...planned, index: before.index }
    return { is: isOutdated(before, spec) ? 'replaced' : 'kept', spec }
  })
  return { slots, removed: running.filter(({ position }) => next.every((one) => one.position !== position)) }
}

/**
 * The parts of the config that have changed and that only a restart of the whole app can apply, as
 * the config names them. `hasEntrance`: the native entrance serves, or
 * would after a restart.
 */
export function needsRestart(from: App, to: App, hasEntrance = false): string[] {
  const changed = Object.entries(hasEntrance ? { ...fixed, ...fixedAtEntrance } : fixed)
    .filter(([, read]) => !same(read(from), read(to)))
    .map(([name]) => name)
  return [...changed, ...movedPorts(from, to)]
}

/** Ports appear and go, but one that is open stays where it is. */
function movedPorts(from: App, to: App): string[] {
  return to.services.flatMap(({ name, expose }) => {
    const before = from.services.find((one) => one.name === name)?.expose ?? []
    const isMoved = expose.some((address, at) => before[at] !== undefined && !same(address, before[at]))
    return isMoved ? [`services.${name}.expose`] : []
  })
}

const fixed: Readonly<Record<string, (app: App) => unknown>> = {
  'the folder of the app': ({ root }) => root,
  'the working directory, which is the folder of an only service': (app) => planApp(app).folder,
  accept: ({ accept }) => accept,
  accelerators: ({ accelerators }) => accelerators,
  'gateway.host': ({ gateway }) => gateway.host,
  'gateway.port': ({ gateway }) => gateway.port,
  'gateway.tls': ({ gateway }) => gateway.tls,
  'gateway.entrance': ({ gateway }) => gateway.entrance,
  'gateway.raw': ({ gateway }) => gateway.raw,
  'gateway.balance': ({ gateway }) => gateway.balance,
  admin: ({ admin }) => admin,
  'the address of export': ({ export: out }) => out && [out.protocol, out.host, out.port],
  identity: ({ identity }) => identity,
  otlp: ({ otlp }) => otlp,
  cluster: ({ cluster }) => cluster && { ...cluster, services: [] },
  "expose with accept: 'reusePort'": (app) =>
    app.accept === 'reusePort' ? app.services.map(({ expose }) => expose) : [],
}

/** What the native entrance is told when it opens. */
const fixedAtEntrance: typeof fixed = {
  'gateway.grpc': ({ gateway }) => gateway.grpc !== undefined,
  'limits.headerTimeout': ({ limits }) => limits.headerTimeout,
  'limits.requestTimeout': ({ limits }) => limits.requestTimeout,
  'limits.keepAliveTimeout': ({ limits }) => limits.keepAliveTimeout,
  'limits.maxHeaderSize': ({ limits }) => mostHeadOf(limits),
}

function changesOf(from: App, to: App, outdated: Outdated): (before: SlotSpec, next: SlotSpec) => boolean {
  const every = outdated === 'all' || !same(everywhere(from), everywhere(to))
  const gateways = !same(ofGateway(from), ofGateway(to))
  const position = outdated !== 'all' && 'position' in outdated ? outdated.position : undefined
  const services = Array.isArray(outdated) ? (outdated as readonly string[]) : []
  // The code of Busbar does not change with the app's.
  const isBusbar = (name: string): boolean => to.services.some((one) => one.name === name && isInternal(one))
  const changed = (name: string): boolean => services.includes(name) || !same(ofWorker(from, name), ofWorker(to, name))
  return (before, next) =>
    (every && !(next.kind === 'thread' && next.hosts.every(({ name }) => isBusbar(name)))) ||
    (gateways && next.kind === 'shared') ||
    next.position === position ||
    !same([before.hosts, before.memory, before.spare], [next.hosts, next.memory, next.spare]) ||
    next.hosts.some(({ name }) => changed(name))
}

/** What every worker of the app depends on. */
function everywhere(app: App): unknown {
  const { limits, interceptors, validate, traces, gateway, remotes, export: exported, cluster } = app
  const localPorts = localPortsOf(app.services)
  const rawEntry = isRawEntry(app) ? gateway.entry : undefined
  const others = [remotes, exported, cluster?.services]
  return [others, limits, interceptors, validate, traces?.sample, gateway.cors, rawEntry, callRoutesOf(app), localPorts]
}

/** What the gateway depends on, in each shared worker. */
function ofGateway({ gateway, services }: App): unknown {
  const documents = gateway.openapi && services.map(({ name, kind, openapi }) => [name, kind, openapi])
  return [gateway, documents, services.map(({ name, sticky }) => [name, sticky])]
}

/** What the worker of a service depends on: everything but the number of its instances. */
function ofWorker({ services }: App, name: string): unknown {
  const service: Partial<Service> | undefined = services.find((one) => one.name === name)
  return { ...service, instances: undefined, scaling: undefined }
}

function takeIndex(taken: Set<number>): number {
  let index = 0
  while (taken.has(index)) index++
  taken.add(index)
  return index
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
