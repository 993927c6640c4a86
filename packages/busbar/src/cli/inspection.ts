import type { App } from '../config/app.ts'
import { nearest } from '../config/nearest.ts'
import { BusbarError } from '../contract/errors.ts'
import type { StartOptions } from '../supervisor/running-app.ts'

/** Milliseconds: longer than anybody looks at a breakpoint. Timers count in 32 bits. */
const never = 2 ** 31 - 1

/** `true`: all services. */
type Inspect = string | true

/** An instance at a breakpoint answers no health check. */
const withoutRenewal = { health: undefined, maxUptime: undefined, cronRestart: undefined }

/** The app without the limits that would end what stands at a breakpoint. Throws USAGE. */
export function forInspection(app: App, inspect: Inspect): App {
  const names = app.services.map(({ name }) => name)
  if (inspect !== true && !names.includes(inspect)) throw unknownService(inspect, names)
  return {
    ...app,
    limits: { ...app.limits, requestTimeout: 0, responseTimeout: 0 },
    services: app.services.map((service) => ({ ...service, ...withoutRenewal, startTimeout: never, grace: never })),
  }
}

/** A thread at a breakpoint looks like one that is stuck. */
export function inspectionOptions(inspect: Inspect): Pick<StartOptions, 'inspect' | 'timing'> {
  return { inspect: { service: inspect === true ? undefined : inspect }, timing: { stuck: never, boot: never } }
}

function unknownService(name: string, names: readonly string[]): BusbarError {
  const near = nearest(name, names)
  return new BusbarError('USAGE', {
    message: `--inspect: there is no service "${name}"`,
    hint: near === undefined ? `The services are ${names.join(', ')}.` : `Did you mean ${near}?`,
  })
}
