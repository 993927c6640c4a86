/** Which services have to start before others. */
import type { AppConfig } from '../../config/schema/app-schema.ts'
import type { ServiceConfig } from '../imported.ts'
import type { LocalCall } from './local-calls.ts'

type Edge = Pick<LocalCall, 'from' | 'to'>

/**
 * The config in which a service starts after those that it calls. Sources do not show when a call
 * is made, so services that call each other get no needs, but for those of `startCallers`: a run
 * showed that they cannot start without the others.
 */
export function withNeeds(
  config: AppConfig,
  calls: readonly Edge[],
  startCallers: ReadonlySet<string> = new Set(),
): AppConfig {
  const services = { ...config.services }
  const needsOf = (name: string): readonly string[] => {
    const service = services[name]
    return typeof service === 'object' ? (service.needs ?? []) : []
  }
  const declared = Object.keys(services).flatMap((from) => needsOf(from).map((to) => ({ from, to })))
  const isOneWay = ({ from, to }: Edge): boolean => !leadsTo(to, from, [...declared, ...calls])
  const oneWay = calls.filter(isOneWay)
  const atStart = calls.filter((call) => !isOneWay(call) && startCallers.has(call.from))
  const needs = [...declared]
  for (const { from, to } of [...oneWay, ...atStart]) {
    const service = services[from]
    if (service === undefined || needsOf(from).includes(to) || leadsTo(to, from, needs)) continue
    const own: ServiceConfig = typeof service === 'string' ? { path: service } : service
    services[from] = { ...own, needs: [...needsOf(from), to] }
    needs.push({ from, to })
  }
  return { ...config, services }
}

/** Whether services call each other in a circle and none of them starts without the next. */
export function hasStartCycle(calls: readonly Edge[], startCallers: ReadonlySet<string>): boolean {
  const atStart = calls.filter(({ from }) => startCallers.has(from))
  return atStart.some(({ from, to }) => leadsTo(to, from, atStart))
}

function leadsTo(from: string, to: string, edges: readonly Edge[], seen = new Set<string>()): boolean {
  if (from === to) return true
  if (seen.has(from)) return false
  seen.add(from)
  return edges.some((edge) => edge.from === from && leadsTo(edge.to, to, edges, seen))
}
