import { nearest } from '../nearest.ts'
import type { Problems } from '../problems.ts'

/** As much of a service as its order depends on. */
export interface Needing {
  readonly name: string
  readonly needs: readonly string[]
}

/** The names in the order they start: those needed first, else as the config lists them. `names` are all there are. */
export function orderByNeeds(services: readonly Needing[], names: readonly string[], problems: Problems): string[] {
  for (const service of services) checkNames(service, names, problems)
  const cycles = findCycles(services)
  for (const cycle of cycles)
    problems.add('NEEDS_CYCLE', {
      message: `services that need each other cannot start in order: ${cycle.join(' → ')}`,
      hint: cycle.length === 2 ? 'A service need not name itself.' : 'Take one of these needs out.',
    })
  return (cycles.length > 0 ? services : sort(services)).map(({ name }) => name)
}

function checkNames({ name, needs }: Needing, names: readonly string[], problems: Problems): void {
  for (const need of needs) {
    if (names.includes(need)) continue
    const near = nearest(
      need,
      names.filter((other) => other !== name),
    )
    problems.add('NEEDS_UNKNOWN_SERVICE', {
      service: name,
      message: `services.${name}.needs names ${JSON.stringify(need)}, which is no service${near === undefined ? '' : `; the nearest is ${near}`}`,
      hint: near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`,
    })
  }
}

/** Always the first in the list whose needs have all been placed. */
function sort(services: readonly Needing[]): Needing[] {
  const waiting = [...services]
  const sorted: Needing[] = []
  while (waiting.length > 0) {
    const next = waiting.findIndex(({ needs }) => !waiting.some(({ name }) => needs.includes(name)))
    sorted.push(...waiting.splice(next, 1))
  }
  return sorted
}

/** Depth first; a service met again while it is still open closes a cycle. */
function findCycles(services: readonly Needing[]): string[][] {
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
