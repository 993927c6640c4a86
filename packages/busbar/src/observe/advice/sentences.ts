/** Advice in words. */
import type { AppModel } from './app-model.ts'
import { changeText, coresText, durationText } from './figures.ts'
import type { Effect, Move } from './move.ts'
import { costOfCall } from './placement-costs.ts'
import { type Placement, transportBetween } from './placement.ts'

/** `put catalog and cart together (run: shared): p99 −3.1 ms, 0.4 cores less`. */
export function planText(moves: readonly Move[], { cpu, p99, mean, utilization }: Effect): string {
  const shared = moves.filter(({ run }) => run === 'shared').map(({ service }) => service)
  const apart = moves.filter(({ run }) => run !== 'shared')
  const what = [
    ...(shared.length === 0
      ? []
      : [shared.length === 1 ? `run ${shared[0]} shared` : `put ${listOf(shared)} together (run: shared)`]),
    ...apart.map(({ service, run }) => `give ${service} a ${run} of its own`),
  ]
  const effects = [
    ...(mean === null ? [] : [`mean ${changeText(mean, 4)} ms`]),
    ...(p99 === null ? [] : [`p99 ${changeText(p99, 4)} ms`]),
    coresText(cpu),
    `the busiest part ${changeText(utilization * 100, 1)} % busy`,
  ]
  return `${what.join(', ')}: ${effects.join(', ')}`
}

/** The calls whose transport changes. Commands have sockets of their own everywhere. */
export function callLines(model: AppModel, after: Placement): string[] {
  return model.calls.flatMap((calls) => {
    const { caller, callee, protocol, rate, bytes, transport: now } = calls
    const next = transportBetween(caller, callee, after)
    const isSame = next === now || next === transportBetween(caller, callee, model.placement)
    if (next === undefined || isSame || (caller === '' && after.isRaw)) return []
    const costs = (transport: string): string => {
      // Its client's connection costs the same everywhere.
      if (caller === '' && transport === 'local') return 'local at no cost'
      const { latency, caller: from, callee: to } = costOfCall(model.costs, { ...calls, transport })
      return `${transport} ${durationText(latency, 2)} and ${durationText(from + to, 2)} of CPU`
    }
    const who = `${caller === '' ? '(outside)' : caller} > ${callee}`
    const size = bytes === 0 ? '' : ` of ${Math.round(bytes)} bytes`
    return [
      `${who}: ${rate.toFixed(rate < 10 ? 1 : 0)} calls a second${size} (${protocol}): ${costs(now)} each now; ${costs(next)} then`,
    ]
  })
}

export function cautionsOf(moves: readonly Move[], { services, sharedWorkers }: Placement): string[] {
  const kindOf = (service: string): string => services.get(service)!.kind
  const sharing = moves.filter(({ service, run }) => run === 'shared' && kindOf(service) === 'program')
  const leaving = moves.filter(({ from }) => from === 'process')
  return [
    ...(sharing.length === 0
      ? []
      : [
          `Programs in one thread share globals (${listOf(sharing.map(({ service }) => service))}): busbar check names what it knows to be unsafe.`,
        ]),
    ...(sharing.length > 0 && sharedWorkers > 1
      ? [`Each of the ${sharedWorkers} shared workers gets a copy with its own memory.`]
      : []),
    ...leaving.map(({ service }) => `${service} loses its own process: a crash of native code takes the others along.`),
  ]
}

export function listOf(names: readonly string[]): string {
  if (names.length < 2) return names.join('')
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
