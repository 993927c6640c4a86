/** What an app would cost in another placement, for the same calls per second. */
import type { AppModel, ModelCalls } from './app-model.ts'
import { costOfCall } from './placement-costs.ts'
import { locationOf, type Placement, transportBetween, workersAt } from './placement.ts'

export interface Estimate {
  /** Processors that services and their calls use. */
  readonly cpu: number
  /** Of the busiest workers, or of the machine: 1 serves no more calls. */
  readonly utilization: number
  /** Where that is: a location, or `machine`. */
  readonly busiest: string
  /** Milliseconds of a call from outside, on average: the part that depends on the placement. */
  readonly latency: number
}

/** A queue at a busier worker is not predicted well, so its length is limited. */
const maxLoad = 0.95
/** Chains of calls that may lead in a circle. */
const maxDepth = 16

export function estimate(model: AppModel, placement: Placement): Estimate {
  const loads = loadsOf(model, placement)
  const cpu = [...loads.values()].reduce((sum, load) => sum + load.cpu, 0)
  const machine = cpu / model.cores
  const shares = [...loads].map(([location, load]): [string, number] => [location, load.cpu / load.workers])
  const [busiest, utilization] = [['machine', machine] as const, ...shares].reduce((most, one) =>
    one[1] > most[1] ? one : most,
  )
  const delay = (location: string): number => {
    const { cpu: used, workers } = loads.get(location) ?? { cpu: 0, workers: 1 }
    return 1 / (1 - Math.min(maxLoad, Math.max(used / workers, machine)))
  }
  return { cpu, utilization, busiest, latency: latencyFrom('', { model, placement, delay }, 0) }
}

interface Load {
  cpu: number
  workers: number
}

function loadsOf(model: AppModel, placement: Placement): Map<string, Load> {
  const loads = new Map<string, Load>()
  const add = (service: string, cpu: number): void => {
    const location = locationOf(service, placement)
    const load = loads.get(location) ?? { cpu: 0, workers: 1 }
    load.cpu += cpu
    load.workers = Math.max(load.workers, workersAt(service, placement))
    loads.set(location, load)
  }
  for (const [name, { cpu }] of model.services) add(name, cpu)
  for (const calls of model.calls) {
    const cost = hopCost(calls, model, placement)
    if (cost === undefined) continue
    add(calls.caller, (calls.rate * cost.caller) / 1000)
    add(calls.callee, (calls.rate * cost.callee) / 1000)
  }
  return loads
}

/** Undefined for what is the same everywhere: the connection of a client. */
function hopCost(
  calls: ModelCalls,
  { costs }: AppModel,
  placement: Placement,
): ReturnType<typeof costOfCall> | undefined {
  const transport = transportBetween(calls.caller, calls.callee, placement) ?? calls.transport
  return calls.caller === '' && transport === 'local' ? undefined : costOfCall(costs, { ...calls, transport })
}

interface Where {
  readonly model: AppModel
  readonly placement: Placement
  readonly delay: (location: string) => number
}

/** Milliseconds of all calls that one call to `service` makes. */
function latencyFrom(service: string, where: Where, depth: number): number {
  const { model, placement } = where
  if (depth > maxDepth) return 0
  const rate = service === '' ? model.rate : model.services.get(service)!.callsPerSecond
  if (rate === 0) return 0
  const times = model.calls
    .filter(({ caller }) => caller === service)
    .map((calls) => {
      const each = (hopCost(calls, model, placement)?.latency ?? 0) + timeIn(calls.callee, where, depth)
      return { callee: calls.callee, time: (calls.rate / rate) * each }
    })
  const inOrder = times.reduce((sum, { time }) => sum + time, 0)
  const parallel = service === '' ? 0 : model.services.get(service)!.parallel
  return parallel * togetherOf(times, inOrder, where) + (1 - parallel) * inOrder
}

/**
 * The duration of calls that are made at the same time. Those in one worker take turns; workers run
 * side by side, as far as there are processors.
 */
function togetherOf(
  times: readonly { callee: string; time: number }[],
  inOrder: number,
  { model, placement }: Where,
): number {
  const byLocation = Map.groupBy(times, ({ callee }) => locationOf(callee, placement))
  const longest = [...byLocation].map(([location, all]) => {
    const time = all.reduce((sum, one) => sum + one.time, 0)
    // A shared service is called in the caller's own worker.
    return location === 'shared' ? time : time / Math.max(...all.map(({ callee }) => workersAt(callee, placement)))
  })
  return Math.max(0, inOrder / Math.max(1, model.cores), ...longest)
}

/** Milliseconds of one call in a service, with the calls that it makes. */
function timeIn(service: string, where: Where, depth: number): number {
  const work = where.model.services.get(service)
  if (work === undefined || work.callsPerSecond === 0) return 0
  const own = (work.cpu / work.callsPerSecond) * 1000
  return own * where.delay(locationOf(service, where.placement)) + latencyFrom(service, where, depth + 1)
}
