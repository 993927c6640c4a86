/**
 * What an app's services use for themselves, from a window of live figures and the costs of calls:
 * the processor time of a worker, without that of the calls that it makes and answers.
 */
import { type AppWindow, type EdgeWindow, isFromOutside, latencyOf } from './app-window.ts'
import {
  busyMachine,
  type CallCost,
  type CostedCalls,
  costOfCall,
  type CostTable,
  type PlacementCosts,
} from './placement-costs.ts'
import { locationOf, type Placement } from './placement.ts'

export interface AppModel {
  readonly costs: CostTable
  readonly placement: Placement
  /** Calls from outside per second. */
  readonly rate: number
  /** Processors that its workers can use: without what all other threads of the machine use. */
  readonly cores: number
  /** Processors that the app can use: without what other processes use. */
  readonly available: number
  readonly services: ReadonlyMap<string, OwnWork>
  /** Services whose own work is not known. An estimate takes it for none. */
  readonly unmeasured: ReadonlySet<string>
  readonly calls: readonly ModelCalls[]
  /** What is not known, in sentences. */
  readonly unknown: readonly string[]
}

/** Of a service without the calls that it makes. */
export interface OwnWork {
  readonly callsPerSecond: number
  /** Processors. */
  readonly cpu: number
  /** Its calls are made at the same time: 0, one after the other, to 1, all of them. */
  readonly parallel: number
}

/** All calls of one service to another one. */
export interface ModelCalls extends CostedCalls {
  readonly caller: string
  readonly callee: string
}

/** Of the processor time of workers. The rest is at least the own work of services. */
const maxShareOfCalls = 0.95

export interface ModelParts {
  readonly window: AppWindow
  readonly placement: Placement
  readonly costs: Omit<PlacementCosts, 'measuredAt'>
  /** Of the machine. */
  readonly cores: number
  /** Undefined: not known. */
  readonly bytesOf: (caller: string, callee: string) => number | undefined
  readonly recordsTraces: boolean
  /** Whether other apps may call its services. Default: false. */
  readonly isExported?: boolean
}

export function modelOf(given: ModelParts): AppModel {
  const { window, placement } = given
  const unknown: string[] = []
  const calls = callsBetween(given)
  if (calls.every(({ caller, callee }) => given.bytesOf(caller, callee) === undefined))
    unknown.push(`The bytes of calls are not known, because ${whyNoBytes(given, calls)}.`)
  if (given.isExported === true)
    unknown.push(
      'Calls of other apps count in those apps: the processor time that they take here is taken for own work.',
    )
  const cpu = cpuByLocation(window, placement, unknown)
  const costs = fitted(given, calls, cpu, unknown)
  const parts = { ...given, costs }
  const services = new Map<string, OwnWork>()
  const unmeasured = new Set<string>()
  for (const [location, names] of Map.groupBy(namesOf(placement), (name) => locationOf(name, placement))) {
    const used = calls.reduce((sum, one) => sum + usedAt(location, one, parts), 0)
    const own = Math.max(0, (cpu.get(location) ?? 0) - used)
    if (!cpu.has(location)) for (const name of names) unmeasured.add(name)
    else if (names.filter((name) => busyTime(name, window.edges) > 0).length > 1)
      unknown.push(
        `The processor time of ${names.join(', ')} cannot be told apart, since they share workers: it is divided by the duration of their calls.`,
      )
    for (const [name, share] of sharesOf(names, window.edges)) {
      const parallel = parallelOf(name, window.edges)
      services.set(name, { callsPerSecond: callsTo(name, window.edges) / window.seconds, cpu: own * share, parallel })
    }
  }
  const outside = latencyOf(window.edges.filter(isFromOutside))
  // The supervisor's thread and those of V8 also take time from the workers.
  const ofWorkers = cpu.values().reduce((sum, one) => sum + one, 0)
  const others = (own: number): number => (window.cpu === null ? 0 : Math.max(0, window.machine - own))
  // It could use at least what it has used.
  const coresFor = (own: number): number => Math.max(0.25, own, parts.cores - others(own))
  return {
    costs,
    placement,
    rate: outside.calls / window.seconds,
    cores: coresFor(ofWorkers),
    available: coresFor(window.cpu ?? ofWorkers),
    services,
    unmeasured,
    calls,
    unknown,
  }
}

function whyNoBytes({ recordsTraces }: ModelParts, calls: readonly ModelCalls[]): string {
  if (!recordsTraces) return 'the app records no traces: calls count as small ones'
  if (calls.length === 0) return 'there were no calls'
  return 'none of them is in a recorded trace: calls count as small ones'
}

/** Calls that would use more processor time than the app has used cost less than measured. */
function fitted(
  { costs, ...parts }: ModelParts,
  calls: readonly ModelCalls[],
  cpu: ReadonlyMap<string, number>,
  unknown: string[],
): CostTable {
  if (costs.others > busyMachine)
    unknown.push(
      `Other processes used ${costs.others.toFixed(1)} processors while the costs of calls were measured, so these may be too high: busbar advise --calibrate measures them again.`,
    )
  const sum = (values: Iterable<number>): number => [...values].reduce((all, one) => all + one, 0)
  const used = sum(
    [...cpu.keys()].flatMap((location) => calls.map((one) => usedAt(location, one, { ...parts, costs }))),
  )
  const factor = used === 0 ? 1 : Math.min(1, (sum(cpu.values()) * maxShareOfCalls) / used)
  if (factor === 1) return costs
  unknown.push(
    `The calls of this app use less processor time than measured on this machine: their costs are multiplied by ${factor.toFixed(2)}.`,
  )
  return { http: scaled(costs.http, factor), rpc: scaled(costs.rpc, factor) }
}

function scaled(costs: CostTable['http'], factor: number): CostTable['http'] {
  const { local, thread, unix } = costs
  const scale = (cost: CallCost): CallCost => ({
    ...cost,
    caller: cost.caller * factor,
    callee: cost.callee * factor,
    cpuPerKib: cost.cpuPerKib * factor,
  })
  return { local: scale(local), thread: scale(thread), unix: scale(unix) }
}

function namesOf({ services }: Placement): string[] {
  return [...services.keys()]
}

function callsBetween({ window, bytesOf }: ModelParts): ModelCalls[] {
  const groups = Map.groupBy(window.edges, ({ caller, callee, protocol, transport }) =>
    JSON.stringify([caller, callee, protocol, transport]),
  )
  return [...groups.values()].map((edges) => {
    const { caller, callee, protocol, transport } = edges[0]!
    const count = edges.reduce((sum, edge) => sum + edge.calls, 0)
    const bytes = bytesOf(caller, callee) ?? 0
    const perCall = count / Math.max(1, callsTo(caller, window.edges))
    const together = caller === '' ? 1 : 1 + parallelOf(caller, window.edges) * Math.max(0, perCall - 1)
    return { caller, callee, protocol, transport, rate: count / window.seconds, bytes, together }
  })
}

/**
 * Processors of all workers of each location. A location where those of one are not known has none.
 */
function cpuByLocation({ workers }: AppWindow, placement: Placement, unknown: string[]): Map<string, number> {
  const found = new Map<string, number>()
  const unmeasured = new Set<string>()
  for (const { name, kind, services, cpu } of workers) {
    const location = kind === 'shared' || services.length === 0 ? 'shared' : locationOf(services[0]!, placement)
    if (cpu === null) {
      unknown.push(`The processor time of worker ${name} is not known.`)
      unmeasured.add(location)
    }
    found.set(location, (found.get(location) ?? 0) + (cpu ?? 0))
  }
  for (const location of unmeasured) found.delete(location)
  return found
}

/** Processors that the calls themselves use in the workers of a location. */
function usedAt(
  location: string,
  calls: ModelCalls,
  { placement, costs }: { placement: Placement; costs: CostTable },
): number {
  const { caller, callee, rate } = calls
  const { caller: from, callee: to } = costOfCall(costs, calls)
  // The connection of a client is the same wherever the service runs.
  const calling = caller !== '' || !placement.isRaw ? locationOf(caller, placement) : undefined
  if (calling === undefined || (caller === '' && calls.transport === 'local')) return 0
  const milliseconds = (calling === location ? from : 0) + (locationOf(callee, placement) === location ? to : 0)
  return (rate * milliseconds) / 1000
}

/** How the own processor time of a location belongs to its services. */
function sharesOf(names: readonly string[], edges: readonly EdgeWindow[]): [string, number][] {
  const times = names.map((name): [string, number] => [name, ownTime(name, edges)])
  const all = times.reduce((sum, [, time]) => sum + time, 0)
  return times.map(([name, time]) => [name, all === 0 ? 1 / names.length : time / all])
}

/** The time of the calls to it, without that of the calls that it makes. */
function ownTime(service: string, edges: readonly EdgeWindow[]): number {
  const inOrder = 1 - parallelOf(service, edges)
  const { all, longest } = madeBy(service, edges)
  return Math.max(0, busyTime(service, edges) - Math.max(longest, all * inOrder))
}

function busyTime(service: string, edges: readonly EdgeWindow[]): number {
  return edges.filter(({ callee }) => callee === service).reduce((sum, edge) => sum + timeOf(edge), 0)
}

function callsTo(service: string, edges: readonly EdgeWindow[]): number {
  return edges.filter(({ callee }) => callee === service).reduce((sum, { calls }) => sum + calls, 0)
}

/** Calls that take longer together than the calls that cause them are made at the same time. */
function parallelOf(service: string, edges: readonly EdgeWindow[]): number {
  const { all, longest } = madeBy(service, edges)
  if (all <= longest) return 0
  return Math.min(1, Math.max(0, (all - busyTime(service, edges)) / (all - longest)))
}

/** The time of all calls that a service makes, and what it would be with only its longest ones. */
function madeBy(service: string, edges: readonly EdgeWindow[]): { all: number; longest: number } {
  const made = edges.filter(({ caller }) => caller === service)
  const calls = Math.max(1, callsTo(service, edges))
  return {
    all: made.reduce((sum, edge) => sum + timeOf(edge), 0),
    // Of several calls to one service, one for each call that causes them.
    longest: Math.max(0, ...made.map((edge) => edge.mean * Math.min(edge.calls, calls))),
  }
}

function timeOf({ mean, calls }: EdgeWindow): number {
  return mean * calls
}
