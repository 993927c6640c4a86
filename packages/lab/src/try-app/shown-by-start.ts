/** What a start as today shows of services that nobody knew before. */
import type { NoAnswerError } from '../protocol/client/await-answer.ts'
import { portsOf } from './today-arm.ts'
import type { Learned, TriedApp } from './tried-app.ts'

export type Shown = Pick<Learned, 'ports' | 'silent'> & {
  /** Services that listened elsewhere at an earlier start. */
  readonly moving: readonly string[]
}

/**
 * Services whose ports are unknown get one in `PORT`. If such a service listens elsewhere, its
 * processes are known by that value. `learned`: from earlier starts.
 */
export function shownBy(
  { ports: seen, port: first }: NoAnswerError,
  { today, entry }: TriedApp,
  learned: Learned['ports'],
): Shown {
  if (seen === undefined) return { ports: {}, silent: [], moving: [] }
  const { listeners, given: alive } = seen
  const assigned = portsOf(today, first)
  const known = new Set(today.map(({ port }) => port))
  const isAssigned = new Set(assigned.values())
  const ports: Record<string, number> = {}
  const silent: string[] = []
  for (const { name, port } of today) {
    if (port !== undefined) continue
    const given = assigned.get(name)!
    // The nearest value, since the shell that started all others becomes one of the services.
    const owned = listeners.filter((one) => one.given.find((value) => isAssigned.has(value)) === given)
    const own = owned.map((one) => one.port).filter((one) => !known.has(one))
    const [found, ...others] = own
    if (found === undefined && name !== entry && alive.has(given)) silent.push(name)
    // Frameworks have ports of their own.
    else if (found !== undefined && others.length === 0 && found !== given) ports[name] = found
  }
  const open = new Set(listeners.map(({ port }) => port))
  const moving = Object.keys(learned).filter((name) => !open.has(learned[name]!))
  return { ports, silent, moving: listeners.length === 0 ? [] : moving }
}
