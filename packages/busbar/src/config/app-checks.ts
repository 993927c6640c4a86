/**
 * Checks that need the whole app: limits that include each other, and services that share
 * something.
 */
import { type App, isRawEntry, needOfGateway, type Service, usesEntrance } from './app.ts'
import type { Problems } from './problems.ts'
import type { ParsedConfig } from './schema/app-schema.ts'

const maxThreads = 1024

/** A service's limit may not exceed the app's limit that includes it. */
export function checkLimits({ limits, stopTimeout, defaults, services = {} }: ParsedConfig, problems: Problems): void {
  const { headerTimeout, requestTimeout } = limits
  // Node refuses to create a server with such values.
  if (requestTimeout > 0 && headerTimeout > requestTimeout)
    problems.add('CONFIG_INVALID', {
      message: `limits.headerTimeout (${headerTimeout} ms) is longer than limits.requestTimeout (${requestTimeout} ms), which includes it`,
      hint: 'Make headerTimeout the shorter one.',
    })
  const own = Object.entries(services).map(([name, service]) => ({
    key: `services.${name}.stopTimeout`,
    value: typeof service === 'string' ? undefined : service.stopTimeout,
  }))
  for (const { key, value } of [{ key: 'defaults.stopTimeout', value: defaults.stopTimeout }, ...own])
    if (value !== undefined && value > stopTimeout)
      problems.add('CONFIG_INVALID', {
        message: `${key} (${value} ms) is longer than the app's stopTimeout (${stopTimeout} ms), which includes it`,
        hint: `Shorten it, or write stopTimeout: ${value} for the app.`,
      })
}

/** A port of this machine can stand for one service only. */
export function checkLocalPorts(services: readonly Service[], problems: Problems): void {
  const known = new Map<number, string>()
  for (const { name, localhost = [] } of services)
    for (const port of localhost) {
      const other = known.get(port)
      if (other !== undefined)
        problems.add('PORT_DUPLICATE', {
          message: `services.${other}.localhost and services.${name}.localhost are both ${port}`,
          hint: 'Remove it from the other service.',
        })
      known.set(port, name)
    }
}

/** What an entrance does not do. */
export function checkEntrance({ accept, gateway: { entrance, balance } }: ParsedConfig, problems: Problems): void {
  if (entrance === 'portable' && balance === 'request')
    problems.add('CONFIG_INVALID', {
      message:
        "gateway.balance is 'request', and gateway.entrance is 'portable': that gateway gives connections to workers",
      hint: "Leave balance out, or write entrance: 'native'.",
    })
  if (entrance !== 'native') return
  if (accept === 'reusePort')
    problems.add('CONFIG_INVALID', {
      message: "accept is 'reusePort', and gateway.entrance is 'native': the entrance accepts the connections itself",
      hint: 'Leave accept out.',
    })
}

export function checkRaw(app: Pick<App, 'gateway' | 'services'>, problems: Problems): void {
  const need = app.gateway.raw === true ? needOfGateway(app) : undefined
  if (need !== undefined)
    problems.add('CONFIG_INVALID', {
      message: `gateway.raw is true, and ${need}: the gateway has to read the requests`,
      hint: 'Remove gateway.raw. The gateway then reads the requests and forwards them.',
    })
}

/**
 * A range from `auto` may be smaller than its least number on a small machine; one of numbers may
 * not.
 */
export function checkRanges({ workers, services = {} }: ParsedConfig, problems: Problems): void {
  const own = Object.entries(services).map(([name, service]) => ({
    key: `services.${name}.instances`,
    count: typeof service === 'string' ? undefined : service.instances,
  }))
  for (const { key, count } of [{ key: 'workers', count: workers }, ...own])
    if (typeof count === 'object' && typeof count.max === 'number' && count.min > count.max)
      problems.add('CONFIG_INVALID', {
        message: `${key}.min (${count.min}) is more than ${key}.max (${count.max})`,
        hint: 'Swap min and max, or give one number.',
      })
}

/**
 * The heap limit of a group's thread is the sum over its services, so all of them or none must set
 * it.
 */
export function checkGroups(services: readonly Service[], problems: Problems): void {
  for (const [group, members] of Map.groupBy(services, ({ group }) => group)) {
    const unlimited = members.filter(({ memory }) => memory === undefined)
    if (group === undefined || unlimited.length === 0 || unlimited.length === members.length) continue
    problems.add('CONFIG_INVALID', {
      message: `services.${unlimited[0]!.name} has no memory, and others of its group ${group} have: the heap limit of their thread is the sum`,
      hint: 'Give memory to every service of the group, or to none.',
    })
  }
}

export function checkThreadCount(services: readonly Service[], workers: number, problems: Problems): void {
  const threadsOf = ({ run, instances, spare }: Service): number => (run === 'shared' ? 0 : instances * (spare ? 2 : 1))
  const total = services.reduce((sum, service) => sum + threadsOf(service), workers)
  if (total > maxThreads)
    problems.add('CONFIG_INVALID', {
      message: `the app would have ${total} threads and processes; ${maxThreads} are allowed`,
      hint: 'Lower workers, or the instances of its services.',
    })
}

export function checkSpares(app: Pick<App, 'accept' | 'gateway' | 'services'>, problems: Problems): void {
  for (const [group, members] of Map.groupBy(app.services, (service) => service.group)) {
    const without = members.filter(({ spare }) => !spare)
    if (group === undefined || without.length === 0 || without.length === members.length) continue
    problems.add('CONFIG_INVALID', {
      message: `services.${without[0]!.name} has no spare, and others of its group ${group} have: a spare thread hosts the whole group`,
      hint: 'Give spare to every service of the group, or to none.',
    })
  }
  for (const service of app.services) if (service.spare) checkSpare(service, app, problems)
}

/** A spare must not get requests before it is used. */
function checkSpare(
  { name, expose }: Service,
  app: Pick<App, 'accept' | 'gateway' | 'services'>,
  problems: Problems,
): void {
  const isEntry = name === app.gateway.entry && isRawEntry(app)
  if (app.accept === 'reusePort' && (expose.length > 0 || isEntry))
    problems.add('CONFIG_INVALID', {
      message: `services.${name}.spare: the spare would accept connections before it is used, since accept is 'reusePort' and ${name} has a public port`,
      hint: "Leave spare out, or write accept: 'balanced'.",
    })
  else if (isEntry && usesEntrance(app))
    problems.add('CONFIG_INVALID', {
      message: `services.${name}.spare: the spare would get requests before it is used, since gateway.entrance is 'native' and ${name} is the entry`,
      hint: "Leave spare out, or write entrance: 'portable'.",
    })
}
