import type { App } from '../app.ts'
import { isRawEntry } from '../gateway/raw-entry.ts'
import type { Problems } from '../problems.ts'

/** What only shows when all services are known: whether those that ask for a spare can have one. */
export function checkSpares(app: Pick<App, 'accept' | 'gateway' | 'services'>, problems: Problems): void {
  for (const [group, members] of Map.groupBy(app.services, (service) => service.group)) {
    const without = members.filter(({ spare }) => !spare)
    if (group === undefined || without.length === 0 || without.length === members.length) continue
    problems.add('CONFIG_INVALID', {
      message: `services.${without[0]!.name} has no spare, and others of its group ${group} have: a thread's spare has all that it has`,
      hint: 'Give each service of the group a spare, or none.',
    })
  }
  if (app.accept !== 'reusePort') return
  for (const { name, spare, expose } of app.services) {
    const isEntry = name === app.gateway.entry && isRawEntry(app)
    if (!spare || (expose.length === 0 && !isEntry)) continue
    problems.add('CONFIG_INVALID', {
      message: `services.${name}.spare: it would take connections before its time, since accept is 'reusePort' and ${name} has a port of its own`,
      hint: "Leave spare out, or write accept: 'balanced'.",
    })
  }
}
