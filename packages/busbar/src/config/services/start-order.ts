import { nearest } from '../nearest.ts'
import type { Problems } from '../problems.ts'

/** The part of a service that decides its start order. */
export interface ServiceNeeds {
  readonly name: string
  readonly needs: readonly string[]
}

/**
 * Names in start order: needed services first, else in the order of the config. `names`: all
 * services.
 */
export function orderByNeeds(
  services: readonly ServiceNeeds[],
  names: readonly string[],
  problems: Problems,
): string[] {
  for (const service of services) checkNames(service, names, problems)
  const cycles = findCycles(services)
  for (const cycle of cycles)
    problems.add('NEEDS_CYCLE', {
      message: `services that need each other have no start order: ${cycle.join(' → ')}`,
      hint: cycle.length === 2 ? 'Remove the service from its own needs.' : 'Remove one of these needs.',
    })
  return (cycles.length > 0 ? services : sort(services)).map(({ name }) => name)
}

function checkNames({ name, needs }: ServiceNeeds, names: readonly string[], problems: Problems): void {
  for (const need of needs) {
    if (names.includes(need)) continue
    const near = nearest(
      need,
      names.filter((other) => other !== name),
    )
    problems.add('NEEDS_UNKNOWN_SERVICE', {
      service: name,
      message: `services.${name}.needs names ${JSON.stringify(need)}, which is not a service${near === undefined ? '' : `; the nearest is ${near}`}`,
      hint: near === undefined ? `The services are ${names.join(', ')}.` : `Did you mean ${near}?`,
    })
  }
}

/** Repeatedly takes the first service whose needs are all sorted. */
function sort(services: readonly ServiceNeeds[]): ServiceNeeds[] {
  const waiting = [...services]
  const sorted: ServiceNeeds[] = []
  while (waiting.length > 0) {
    const next = waiting.findIndex(({ needs }) => !waiting.some(({ name }) => needs.includes(name)))
    sorted.push(...waiting.splice(next, 1))
  }
  return sorted
}

/** Depth-first search: reaching a service that is still open closes a cycle. */
function findCycles(services: readonly ServiceNeeds[]): string[][] {
  const byName = new Map(services.map((service) => [service.name, service]))
  const done = new Set<string>()
  const open: string[] = []
  const cycles: string[][] = []
  const visit = (name: string): void => {
    if (done.has(name)) return
    if (open.includes(name)) {
      cycles.push([...open.slice(open.indexOf(name)), name])
      return
    }
    open.push(name)
    for (const need of byName.get(name)?.needs ?? []) visit(need)
    open.pop()
    done.add(name)
  }
  for (const { name } of services) visit(name)
  return cycles
}
